//! The driver itself: runs are worked on until nothing is left that can be done now.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::run::{Incoming, Pending, Rejection, Time, next_alarm};
use countersign_store::{Blob, RunId, StoreError};

use super::hold::{Hold, TERM};
use super::models::Models;
use super::orders::next_order;
use super::perform::Hands;
use super::presence::Presence;
use super::rest::Rest;
use super::side_by_side::SideBySide;
use crate::engine::{Along, Engine, EngineError};
use crate::recall::rested;

/// How long is waited, in milliseconds, before a result that could not be kept is offered again. What a
/// model said is dear; a store that stays away is told all the same.
const PAUSES: [i64; 4] = [100, 300, 1_000, 3_000];

/// Works on runs.
pub struct Driver {
    pub(super) engine: Arc<Engine>,
    models: Arc<dyn Models>,
    pub(super) hands: Hands,
    worker: String,
    presence: Option<Presence>,
    /// Runs that are worked on right now: a lease tells workers apart, not the calls of one.
    busy: Mutex<BTreeSet<RunId>>,
}

/// A run is worked on by one call at a time. Ends with the call, however that ends.
struct Turn<'d> {
    driver: &'d Driver,
    run: &'d RunId,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.driver.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(self.run);
    }
}

impl Driver {
    /// A worker with a name that no other has.
    #[must_use]
    pub fn new(engine: Arc<Engine>, models: Arc<dyn Models>, hands: Hands, worker: String) -> Self {
        Self { engine, models, hands, worker, presence: None, busy: Mutex::default() }
    }

    /// A worker that others on this machine can see to be alive; it goes by the name it announced.
    #[must_use]
    pub fn present(self, presence: Presence) -> Self {
        Self { worker: presence.worker().to_owned(), presence: Some(presence), ..self }
    }

    /// Works on a run, and on those it starts and tells, until each has come to rest. Tells where
    /// the first one did. Runs that are started together are worked on side by side.
    ///
    /// May be dropped at any moment, and called again: what was kept is kept, and what was under way
    /// is done again under the same id.
    pub async fn drive(&self, run: &str) -> Result<Rest, EngineError> {
        let first = self.engine.run_id(run);
        let mut works = SideBySide::new();
        works.push(first.clone(), self.work(first.clone()));
        let mut rest = Rest::Held;
        while let Some((run, reached)) = works.next().await {
            let (reached, others) = reached?;
            // One of our own works may hold it, and tells where it came to rest.
            if run == first && reached != Rest::Held {
                rest = reached;
            }
            for other in others {
                works.push(other.clone(), self.work(other));
            }
        }
        Ok(rest)
    }

    /// Works on one run until it rests. Tells which runs have to be worked on because of it.
    async fn work(&self, run: RunId) -> Result<(Rest, Vec<RunId>), EngineError> {
        let mut others = Vec::new();
        loop {
            let Some(turn) = self.turn(&run) else { return Ok((Rest::Held, others)) };
            let taken =
                Hold::take(&self.engine, &run, &self.worker, self.presence.as_ref()).await?;
            let Some(mut hold) = taken else { return Ok((Rest::Held, others)) };
            let worked = self.work_held(&run, &mut hold, &mut others).await;
            hold.release().await;
            if worked.is_ok() {
                rested(&self.engine, &run).await;
            }
            drop(turn);
            let (rest, version) = match worked {
                Ok(worked) => worked,
                // Our lease ran out, and another works on it.
                Err(EngineError::Store(StoreError::Fenced { .. })) => {
                    return Ok((Rest::Held, others));
                }
                Err(other) => return Err(other),
            };
            // Whoever gave it something while it was held found it held, and left it to us.
            let head = self.engine.store().head(&run).await?;
            if head.is_none_or(|head| head.version <= version) {
                return Ok((rest, others));
            }
        }
    }

    fn turn<'d>(&'d self, run: &'d RunId) -> Option<Turn<'d>> {
        let fresh = self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
        fresh.then_some(Turn { driver: self, run })
    }

    /// Works until nothing can be done, and tells at which version that was.
    async fn work_held(
        &self,
        run: &RunId,
        hold: &mut Hold<'_>,
        others: &mut Vec<RunId>,
    ) -> Result<(Rest, u64), EngineError> {
        // Orders that only other runs, or people, can finish.
        let mut left: Vec<String> = Vec::new();
        // Waits that did not take the document that lies where it was asked for.
        let mut tried: Vec<String> = Vec::new();
        let begun = self.engine.fresh(run).await?;
        if let Some(what) = self.unwanted(&begun.state).await? {
            self.keep(run, hold, what, Vec::new()).await?;
        }
        loop {
            let live = self.engine.live(run).await?;
            let now = self.engine.clock().now();
            let Some((action, order)) = next_order(&live.state, now, &left) else {
                if let Some(arrived) = self.hands.arrived(&live.state, &tried).await {
                    if let Incoming::Answered { wait, .. } = &arrived {
                        tried.push(wait.clone());
                    }
                    self.keep(run, hold, arrived, Vec::new()).await?;
                    continue;
                }
                if self.tick(run, hold).await? {
                    continue;
                }
                return Ok((Rest::of(&live, now), live.state.version));
            };
            let done = match &order {
                Pending::Child { run: child, .. } => {
                    others.push(self.engine.run_id(child));
                    self.start_child(&live, &action, &order).await?.map(|what| (what, Vec::new()))
                }
                Pending::Tell { run: other, tell } => {
                    let told = self.tell(&live.state, &action, other, tell).await?;
                    others.push(self.engine.run_id(other));
                    Some((told, Vec::new()))
                }
                _ => {
                    let work =
                        self.hands.perform(&self.engine, &*self.models, &live, &action, &order);
                    match self.meanwhile(run, hold, &action, work).await? {
                        Some(done) => done,
                        // Nobody wants the result any more, and the order is gone.
                        None => continue,
                    }
                }
            };
            match done {
                None => left.push(action),
                Some((what, blobs)) => {
                    self.keep(run, hold, what, blobs).await?;
                    self.hands.forget(&live.state.run, &action, &order).await;
                }
            }
        }
    }

    /// Does something for a run that is held. Now and then it is asked whether the run is still ours,
    /// whether something is due, and whether the result is still wanted; `None` where it is not.
    async fn meanwhile<T>(
        &self,
        run: &RunId,
        hold: &mut Hold<'_>,
        action: &str,
        work: impl Future<Output = T>,
    ) -> Result<Option<T>, EngineError> {
        tokio::pin!(work);
        loop {
            let look_at = self.look_at(run).await;
            tokio::select! {
                biased;
                done = &mut work => return Ok(Some(done)),
                () = self.engine.clock().until(look_at) => {}
            }
            hold.renew().await?;
            match self.tick(run, hold).await {
                // A store that is away for a while does not end the work.
                Ok(_) | Err(EngineError::Store(_)) => {}
                Err(other) => return Err(other),
            }
            if let Ok(live) = self.engine.fresh(run).await
                && !live.state.pending.contains_key(action)
            {
                return Ok(None);
            }
        }
    }

    /// When to look: as soon as something is due, and long before the lease runs out.
    async fn look_at(&self, run: &RunId) -> Time {
        let now = self.engine.clock().now();
        let live = self.engine.live(run).await.ok();
        let alarm = live.and_then(|live| next_alarm(&live.protocol, &live.state));
        let renewal = now.after(TERM / 3);
        alarm.filter(|at| *at > now).map_or(renewal, |at| at.min(renewal))
    }

    /// Gives a run what came of an order. Where the store is away, it is offered again for a while:
    /// an order's result is taken once, so that nothing is done twice by it.
    async fn keep(
        &self,
        run: &RunId,
        hold: &Hold<'_>,
        what: Incoming,
        blobs: Vec<Blob>,
    ) -> Result<(), EngineError> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let (lease, blobs) = (Some(hold.lease()), blobs.clone());
            let along = Along { lease, blobs, ..Along::default() };
            match self.engine.give_along(run, what.clone(), along).await {
                // Its order was dropped meanwhile: a person cancelled, a deadline passed.
                Ok(_) | Err(EngineError::Rejected(_)) => return Ok(()),
                Err(EngineError::Store(
                    away @ (StoreError::Busy { .. } | StoreError::Unavailable { .. }),
                )) => match pauses.next() {
                    Some(pause) => {
                        let clock = self.engine.clock();
                        clock.until(clock.now().after(pause)).await;
                    }
                    None => return Err(away.into()),
                },
                Err(other) => return Err(other),
            }
        }
    }

    /// Lets time go by for a run, where something is due.
    async fn tick(&self, run: &RunId, hold: &Hold<'_>) -> Result<bool, EngineError> {
        let live = self.engine.live(run).await?;
        let due = |at: Time| at <= self.engine.clock().now();
        if !next_alarm(&live.protocol, &live.state).is_some_and(due) {
            return Ok(false);
        }
        let along = Along { lease: Some(hold.lease()), ..Along::default() };
        match self.engine.give_along(run, Incoming::Ticked, along).await {
            Ok(_) => Ok(true),
            Err(EngineError::Rejected(Rejection::NothingDue | Rejection::Ended { .. })) => {
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }
}
