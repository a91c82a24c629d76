//! Keeps runs going: whatever is due is driven, until the server is to end.
//!
//! A run is driven when somebody gave it something, when its time has come, and when nobody works on it who
//! should. What it rests with is the driver's to say. Not here: how a run is driven.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use countersign_runtime::engine::EngineError;
use countersign_store::RunId;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::house::House;
use crate::stop::Stopping;

/// How often it is looked for what is due, in milliseconds.
const LOOK: u64 = 1_000;

/// How many runs are driven at once.
const AT_ONCE: usize = 64;

/// How many due runs are looked at in one go.
const PAGE: usize = 1_000;

/// How long a run that could not be driven is left alone, in milliseconds.
const PAUSE: i64 = 5_000;

/// Asks that a run be driven.
#[derive(Debug, Clone)]
pub struct Nudge(mpsc::UnboundedSender<RunId>);

impl Nudge {
    /// Asks that a run be driven now.
    pub fn drive(&self, run: RunId) {
        // Where nothing is driven any more, the next process does it.
        drop(self.0.send(run));
    }
}

/// Keeps runs going.
pub struct Motor {
    house: Arc<House>,
    nudged: mpsc::UnboundedReceiver<RunId>,
    driving: JoinSet<(RunId, Option<u64>)>,
    /// Runs that are driven now; `true` where somebody asked again meanwhile.
    busy: BTreeMap<RunId, bool>,
    queue: BTreeSet<RunId>,
    /// At which version a run came to rest: there is nothing to do for it before it changes.
    rested: BTreeMap<RunId, u64>,
    /// Until when a run is left alone that could not be driven.
    alone: BTreeMap<RunId, i64>,
}

impl Motor {
    /// For the runs of a house.
    #[must_use]
    pub fn new(house: Arc<House>) -> (Self, Nudge) {
        let (sender, nudged) = mpsc::unbounded_channel();
        let motor = Self {
            house,
            nudged,
            driving: JoinSet::new(),
            busy: BTreeMap::new(),
            queue: BTreeSet::new(),
            rested: BTreeMap::new(),
            alone: BTreeMap::new(),
        };
        (motor, Nudge(sender))
    }

    /// Keeps runs going until the server is to end. What is under way then is let go: what was kept is kept,
    /// and what was not is done again under the same id.
    pub async fn run(mut self, mut stopping: Stopping, grace: Duration) {
        let mut looks = tokio::time::interval(Duration::from_millis(LOOK));
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stopping.said() => break,
                Some(done) = self.driving.join_next() => {
                    if let Ok((run, version)) = done {
                        self.rests(run, version);
                    }
                }
                Some(run) = self.nudged.recv() => self.wants(run),
                _ = looks.tick() => self.look().await,
            }
            self.start();
        }
        // A step that is about to end may end.
        let ended = async { while self.driving.join_next().await.is_some() {} };
        drop(tokio::time::timeout(grace, ended).await);
        self.driving.shutdown().await;
    }

    fn wants(&mut self, run: RunId) {
        match self.busy.get_mut(&run) {
            Some(again) => *again = true,
            None => drop(self.queue.insert(run)),
        }
    }

    fn rests(&mut self, run: RunId, version: Option<u64>) {
        let again = self.busy.remove(&run).unwrap_or(false);
        match version {
            Some(version) => drop(self.rested.insert(run.clone(), version)),
            None => {
                let now = self.house.furniture().clock.now().0;
                self.alone.insert(run.clone(), now + PAUSE);
            }
        }
        if again {
            self.queue.insert(run);
        }
    }

    /// Looks for runs that are due and that nobody asked for.
    async fn look(&mut self) {
        let furniture = self.house.furniture();
        let now = furniture.clock.now().0;
        self.alone.retain(|_, until| *until > now);
        // A store that is away for a while is asked again at the next look.
        let Ok(due) = furniture.store.due(now, PAGE).await else { return };
        for run in due {
            if self.busy.contains_key(&run) || self.alone.contains_key(&run) {
                continue;
            }
            let Ok(Some(head)) = furniture.store.head(&run).await else { continue };
            let woken = head.wake_at.is_some_and(|at| at <= now);
            if woken || self.rested.get(&run) != Some(&head.version) {
                self.queue.insert(run);
            }
        }
    }

    fn start(&mut self) {
        while self.driving.len() < AT_ONCE
            && let Some(run) = self.queue.pop_first()
        {
            self.busy.insert(run.clone(), false);
            let house = Arc::clone(&self.house);
            self.driving.spawn(async move {
                let version = drive(&house, &run).await;
                (run, version)
            });
        }
    }
}

/// Drives a run, and tells at which version it rests; `None` where it could not be driven.
async fn drive(house: &House, run: &RunId) -> Option<u64> {
    let driven = async {
        let desk = house.desk(&run.tenant).map_err(|error| error.to_string())?;
        let told = |error: EngineError| error.to_string();
        desk.driver.drive(&run.id).await.map_err(told)?;
        let head = desk.engine.store().head(run).await.map_err(|error| error.to_string())?;
        Ok::<_, String>(head.map_or(0, |head| head.version))
    };
    match driven.await {
        Ok(version) => Some(version),
        Err(error) => {
            house.furniture().watch.warned(&run.id, &format!("it cannot be driven now: {error}"));
            None
        }
    }
}
