//! The driver itself: runs are worked on until nothing is left that can be done now.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::run::{Incoming, Pending, Rejection, Time, next_alarm, next_alarm_after};
use countersign_store::{Blob, Lease, RunId, StoreError};
use tokio::sync::Notify;

use super::hold::{Hold, TERM};
use super::models::Models;
use super::orders::next_order;
use super::perform::Hands;
use super::presence::Presence;
use super::rest::Rest;
use super::side_by_side::SideBySide;
use crate::engine::{Along, Engine, EngineError, Live};
use crate::recall::rested;

/// How long is waited, in milliseconds, before a result that could not be kept is offered again; the last
/// again and again. What a model said is dear; a store that stays away is told all the same.
const PAUSES: [i64; 4] = [100, 300, 1_000, 3_000];

/// When a run that cannot be worked on at all, because it or its protocol is damaged, is looked at again.
const AGAIN: i64 = 60_000;

/// Works on runs.
pub struct Driver {
    pub(super) engine: Arc<Engine>,
    models: Arc<dyn Models>,
    pub(super) hands: Hands,
    worker: String,
    presence: Option<Arc<Presence>>,
    term: i64,
    /// How long a result is offered to a store that is away, in milliseconds.
    patience: i64,
    stopping: AtomicBool,
    /// Runs that are worked on right now: a lease tells workers apart, not the calls of one.
    busy: Mutex<BTreeSet<RunId>>,
    /// Rings when one of them is not any more.
    left: Notify,
}

/// A run is worked on by one call at a time. Ends with the call, however that ends.
struct Turn<'d> {
    driver: &'d Driver,
    run: &'d RunId,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.driver.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(self.run);
        self.driver.left.notify_waiters();
    }
}

impl Driver {
    /// A worker with a name that no other has.
    #[must_use]
    pub fn new(engine: Arc<Engine>, models: Arc<dyn Models>, hands: Hands, worker: String) -> Self {
        Self {
            engine,
            models,
            hands,
            worker,
            presence: None,
            term: TERM,
            patience: PAUSES.iter().sum(),
            stopping: AtomicBool::new(false),
            busy: Mutex::default(),
            left: Notify::new(),
        }
    }

    /// The same, with leases that last so many milliseconds without being renewed.
    #[must_use]
    pub fn with_term(self, term: i64) -> Self {
        Self { term, ..self }
    }

    /// The same, but a result that cannot be kept is offered for so many milliseconds, also where the disk
    /// is full: whoever stays has the time.
    #[must_use]
    pub fn with_patience(self, patience: i64) -> Self {
        Self { patience, ..self }
    }

    /// Lets what is under way end, and begins nothing more: runs are given back as they are.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Gives back every run that it holds, as when it is about to end while work is under way. Call it when no
    /// work goes on any more: what was under way is done again by whoever goes on.
    pub async fn hand_back(&self) -> Result<(), StoreError> {
        let store = self.engine.store();
        for lease in store.held(self.engine.clock().now().0, usize::MAX).await? {
            if lease.worker == self.worker {
                store.release(&lease).await?;
            }
        }
        Ok(())
    }

    /// A worker that others on this machine can see to be alive; it goes by the name it announced.
    #[must_use]
    pub fn present(self, presence: impl Into<Arc<Presence>>) -> Self {
        let presence = presence.into();
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

    /// Works on a run that was taken already, asked for at a moment, until it rests. Runs that it starts
    /// and tells are due by themselves, for any worker.
    pub async fn serve(&self, lease: Lease, since: Time) -> Result<Rest, EngineError> {
        let run = lease.run.clone();
        // An earlier call whose lease ran out may be about to find that out.
        let turn = loop {
            let left = self.left.notified();
            if let Some(turn) = self.turn(&run) {
                break turn;
            }
            left.await;
        };
        let hold = Hold::of(&self.engine, lease, self.term, since);
        let mut others = Vec::new();
        let rest = self.work_until_rest(&run, hold, &mut others).await;
        drop(turn);
        match rest? {
            Some(rest) => Ok(rest),
            None => Ok(self.work(run).await?.0),
        }
    }

    /// Works on one run until it rests. Tells which runs have to be worked on because of it.
    async fn work(&self, run: RunId) -> Result<(Rest, Vec<RunId>), EngineError> {
        let mut others = Vec::new();
        loop {
            let Some(turn) = self.turn(&run) else { return Ok((Rest::Held, others)) };
            let presence = self.presence.as_deref();
            let taken = Hold::take(&self.engine, &run, &self.worker, self.term, presence).await?;
            let Some(hold) = taken else {
                return Ok((self.refused_rest(&run).await?, others));
            };
            let rest = self.work_until_rest(&run, hold, &mut others).await;
            drop(turn);
            if let Some(rest) = rest? {
                return Ok((rest, others));
            }
        }
    }

    /// Why a run could not be taken: somebody holds it, or it is parked.
    async fn refused_rest(&self, run: &RunId) -> Result<Rest, EngineError> {
        let head = self.engine.store().head(run).await?;
        let parked = head.is_some_and(|head| head.is_parked(self.engine.clock().now().0));
        Ok(if parked { Rest::Parked } else { Rest::Held })
    }

    /// Works on a run that is held, and gives it back. `None` where it has to be looked at again: whoever
    /// gave it something meanwhile found it held, and left it to us.
    async fn work_until_rest(
        &self,
        run: &RunId,
        mut hold: Hold<'_>,
        others: &mut Vec<RunId>,
    ) -> Result<Option<Rest>, EngineError> {
        let (rest, live) = match self.work_held(run, &mut hold, others).await {
            Ok(worked) => worked,
            // Our lease ran out, and another works on it.
            Err(EngineError::Store(StoreError::Fenced { .. })) => return Ok(Some(Rest::Held)),
            Err(EngineError::Store(away)) if away.may_pass() => {
                hold.release().await;
                return Err(away.into());
            }
            Err(other) => {
                self.put_off(run, hold).await;
                return Err(other);
            }
        };
        if rest == Rest::Stopped {
            hold.release().await;
            return Ok(Some(rest));
        }
        let wake_at = next_alarm_after(&live.protocol, &live.state, self.engine.clock().now());
        let rests = hold.rest(live.state.version, wake_at).await;
        rested(&self.engine, run).await;
        match rests {
            Ok(true) => Ok(Some(rest)),
            Ok(false) => Ok(None),
            // The lease runs out by itself; what counts is whether there is something new.
            Err(_) => {
                let head = self.engine.store().head(run).await?;
                let same = head.is_none_or(|head| head.version <= live.state.version);
                Ok(same.then_some(rest))
            }
        }
    }

    /// Gives back a run that cannot be worked on, so that nobody tries again and again.
    async fn put_off(&self, run: &RunId, hold: Hold<'_>) {
        let later = self.engine.clock().now().after(AGAIN);
        match self.engine.store().head(run).await {
            // Where that fails, the lease runs out by itself.
            Ok(Some(head)) => drop(hold.rest(head.version, Some(later)).await),
            _ => hold.release().await,
        }
    }

    fn turn<'d>(&'d self, run: &'d RunId) -> Option<Turn<'d>> {
        let fresh = self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
        fresh.then_some(Turn { driver: self, run })
    }

    /// Works until nothing can be done, and tells at which point that was.
    async fn work_held(
        &self,
        run: &RunId,
        hold: &mut Hold<'_>,
        others: &mut Vec<RunId>,
    ) -> Result<(Rest, Arc<Live>), EngineError> {
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
                if let Some(arrived) = self.hands.arrived(&live, &tried).await {
                    if let Incoming::Answered { wait, .. } = &arrived {
                        tried.push(wait.clone());
                    }
                    self.keep(run, hold, arrived, Vec::new()).await?;
                    continue;
                }
                if self.tick(run, hold).await? {
                    continue;
                }
                return Ok((Rest::of(&live, now), live));
            };
            if self.stopping.load(Ordering::Relaxed) {
                return Ok((Rest::Stopped, live));
            }
            hold.renew_late().await?;
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
                    // An order that was refused is still out, and so is what is known of it.
                    let done = !matches!(what, Incoming::Halted { .. });
                    self.keep(run, hold, what, blobs).await?;
                    if done {
                        self.hands.forget(&live.state.run, &action, &order).await;
                    }
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
        let renewal = now.after((self.term / 3).max(1));
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
        let mut left = self.patience;
        loop {
            let (lease, blobs) = (hold.lease(), blobs.clone());
            let along = Along { lease: Some(lease.clone()), blobs, ..Along::default() };
            match self.engine.give_along(run, what.clone(), along).await {
                Ok(_) => {
                    hold.kept(&lease);
                    return Ok(());
                }
                // Its order was dropped meanwhile: a person cancelled, a deadline passed.
                Err(EngineError::Rejected(
                    Rejection::UnknownOrder { .. }
                    | Rejection::WrongOrder { .. }
                    | Rejection::Ended { .. },
                )) => return Ok(()),
                // An answer that does not fit is not offered again. The result of an order that is still
                // out would be, for ever.
                Err(EngineError::Rejected(_)) if what.action().is_none() => return Ok(()),
                Err(EngineError::Store(away)) if left > 0 && self.waits_for(&away) => {
                    let pause = pauses.next().unwrap_or(PAUSES[3]).min(left);
                    left -= pause;
                    let clock = self.engine.clock();
                    clock.until(clock.now().after(pause)).await;
                }
                Err(other) => return Err(other),
            }
        }
    }

    /// Whether a store may be asked again after this.
    fn waits_for(&self, away: &StoreError) -> bool {
        let patient = self.patience > PAUSES.iter().sum();
        away.may_pass() && (patient || !matches!(away, StoreError::Full))
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
