//! The driver itself: runs are worked on until nothing is left that can be done now.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::run::{
    InputKind, InputRejection, PendingAction, Timestamp, next_alarm, next_alarm_after,
};
use countersign_store::{Blob, Lease, RunId, StoreError};
use tokio::sync::Notify;

use super::driver_lease::{DEFAULT_LEASE_TTL_MS, DriverLease};
use super::effect_executor::EffectExecutor;
use super::idle_reason::IdleReason;
use super::keyed_futures::KeyedFutures;
use super::model_resolver::ModelResolver;
use super::next_action::select_next_action;
use super::worker_heartbeat::WorkerHeartbeat;
use crate::engine::{Engine, EngineError, InputOptions, LiveRun};
use crate::memory_recorder::record_idle_run;

/// How long is waited, in milliseconds, before a result that could not be kept is offered again; the last
/// again and again. What a model said is dear; a store that stays away is told all the same.
const STORE_RETRY_DELAYS_MS: [i64; 4] = [100, 300, 1_000, 3_000];

/// When a run that cannot be worked on at all, because it or its protocol is damaged, is looked at again.
const DAMAGED_RUN_RETRY_MS: i64 = 60_000;

/// Works on runs.
pub struct Driver {
    pub(super) engine: Arc<Engine>,
    models: Arc<dyn ModelResolver>,
    pub(super) executor: EffectExecutor,
    worker: String,
    heartbeat: Option<Arc<WorkerHeartbeat>>,
    lease_ttl: i64,
    /// How long a result is offered to a store that is away, in milliseconds.
    store_retry_window: i64,
    stopping: AtomicBool,
    /// Runs that are worked on right now: a lease tells workers apart, not the calls of one.
    busy_runs: Mutex<BTreeSet<RunId>>,
    /// Rings when one of them is not any more.
    run_released: Notify,
}

/// A run is worked on by one call at a time. Ends with the call, however that ends.
struct BusyRunGuard<'d> {
    driver: &'d Driver,
    run: &'d RunId,
}

impl Drop for BusyRunGuard<'_> {
    fn drop(&mut self) {
        self.driver.busy_runs.lock().unwrap_or_else(PoisonError::into_inner).remove(self.run);
        self.driver.run_released.notify_waiters();
    }
}

impl Driver {
    /// A worker with a name that no other has.
    #[must_use]
    pub fn new(
        engine: Arc<Engine>,
        models: Arc<dyn ModelResolver>,
        executor: EffectExecutor,
        worker: String,
    ) -> Self {
        Self {
            engine,
            models,
            executor,
            worker,
            heartbeat: None,
            lease_ttl: DEFAULT_LEASE_TTL_MS,
            store_retry_window: STORE_RETRY_DELAYS_MS.iter().sum(),
            stopping: AtomicBool::new(false),
            busy_runs: Mutex::default(),
            run_released: Notify::new(),
        }
    }

    /// The same, with leases that last so many milliseconds without being renewed.
    #[must_use]
    pub fn with_lease_ttl(self, term: i64) -> Self {
        Self { lease_ttl: term, ..self }
    }

    /// The same, but a result that cannot be kept is offered for so many milliseconds, also where the disk
    /// is full: whoever stays has the time.
    #[must_use]
    pub fn with_store_retry(self, patience: i64) -> Self {
        Self { store_retry_window: patience, ..self }
    }

    /// Lets what is under way end, and begins nothing more: runs are given back as they are.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Gives back every run that it holds, as when it is about to end while work is under way. Call it when no
    /// work goes on any more: what was under way is done again by whoever goes on.
    pub async fn release_leases(&self) -> Result<(), StoreError> {
        let store = self.engine.store();
        for lease in store.list_leases(self.engine.clock().now().0, usize::MAX).await? {
            if lease.worker == self.worker {
                store.release_lease(&lease).await?;
            }
        }
        Ok(())
    }

    /// A worker that others on this machine can see to be alive; it goes by the name it announced.
    #[must_use]
    pub fn with_heartbeat(self, presence: impl Into<Arc<WorkerHeartbeat>>) -> Self {
        let presence = presence.into();
        Self { worker: presence.worker().to_owned(), heartbeat: Some(presence), ..self }
    }

    /// Works on a run, and on those it starts and tells, until each has come to rest. Tells where
    /// the first one did. Runs that are started together are worked on side by side.
    ///
    /// May be dropped at any moment, and called again: what was kept is kept, and what was under way
    /// is done again under the same id.
    pub async fn drive(&self, run: &str) -> Result<IdleReason, EngineError> {
        let first = self.engine.run_id(run);
        let mut works = KeyedFutures::new();
        works.push(first.clone(), self.drive_single_run(first.clone()));
        let mut rest = IdleReason::LeasedElsewhere;
        while let Some((run, reached)) = works.next().await {
            let (reached, others) = reached?;
            // One of our own works may hold it, and tells where it came to rest.
            if run == first && reached != IdleReason::LeasedElsewhere {
                rest = reached;
            }
            for other in others {
                works.push(other.clone(), self.drive_single_run(other));
            }
        }
        Ok(rest)
    }

    /// Works on a run that was taken already, asked for at a moment, until it rests. Runs that it starts
    /// and tells are due by themselves, for any worker.
    pub async fn drive_leased(
        &self,
        lease: Lease,
        since: Timestamp,
    ) -> Result<IdleReason, EngineError> {
        let run = lease.run.clone();
        // An earlier call whose lease ran out may be about to find that out.
        let turn = loop {
            let left = self.run_released.notified();
            if let Some(turn) = self.try_mark_busy(&run) {
                break turn;
            }
            left.await;
        };
        let hold = DriverLease::from_lease(&self.engine, lease, self.lease_ttl, since);
        let mut others = Vec::new();
        let rest = self.drive_until_idle(&run, hold, &mut others).await;
        drop(turn);
        match rest? {
            Some(rest) => Ok(rest),
            None => Ok(self.drive_single_run(run).await?.0),
        }
    }

    /// Works on one run until it rests. Tells which runs have to be worked on because of it.
    async fn drive_single_run(&self, run: RunId) -> Result<(IdleReason, Vec<RunId>), EngineError> {
        let mut others = Vec::new();
        loop {
            let Some(turn) = self.try_mark_busy(&run) else {
                return Ok((IdleReason::LeasedElsewhere, others));
            };
            let presence = self.heartbeat.as_deref();
            let taken =
                DriverLease::acquire(&self.engine, &run, &self.worker, self.lease_ttl, presence)
                    .await?;
            let Some(hold) = taken else {
                return Ok((self.find_refusal_reason(&run).await?, others));
            };
            let rest = self.drive_until_idle(&run, hold, &mut others).await;
            drop(turn);
            if let Some(rest) = rest? {
                return Ok((rest, others));
            }
        }
    }

    /// Why a run could not be taken: somebody holds it, or it is parked.
    async fn find_refusal_reason(&self, run: &RunId) -> Result<IdleReason, EngineError> {
        let head = self.engine.store().load_head(run).await?;
        let parked = head.is_some_and(|head| head.is_parked(self.engine.clock().now().0));
        Ok(if parked { IdleReason::Parked } else { IdleReason::LeasedElsewhere })
    }

    /// Works on a run that is held, and gives it back. `Empty` where it has to be looked at again: whoever
    /// gave it something meanwhile found it held, and left it to us.
    async fn drive_until_idle(
        &self,
        run: &RunId,
        mut hold: DriverLease<'_>,
        others: &mut Vec<RunId>,
    ) -> Result<Option<IdleReason>, EngineError> {
        let (rest, live) = match self.run_action_loop(run, &mut hold, others).await {
            Ok(worked) => worked,
            // Our lease ran out, and another works on it.
            Err(EngineError::Store(StoreError::Fenced { .. })) => {
                return Ok(Some(IdleReason::LeasedElsewhere));
            }
            Err(EngineError::Store(away)) if away.is_transient() => {
                hold.release().await;
                return Err(away.into());
            }
            Err(other) => {
                self.defer_run(run, hold).await;
                return Err(other);
            }
        };
        if rest == IdleReason::DriverStopped {
            hold.release().await;
            return Ok(Some(rest));
        }
        let wake_at = next_alarm_after(&live.protocol, &live.state, self.engine.clock().now());
        let rests = hold.release_until(live.state.version, wake_at).await;
        record_idle_run(&self.engine, run).await;
        match rests {
            Ok(true) => Ok(Some(rest)),
            Ok(false) => Ok(None),
            // The lease runs out by itself; what counts is whether there is something new.
            Err(_) => {
                let head = self.engine.store().load_head(run).await?;
                let same = head.is_none_or(|head| head.version <= live.state.version);
                Ok(same.then_some(rest))
            }
        }
    }

    /// Gives back a run that cannot be worked on, so that nobody tries again and again.
    async fn defer_run(&self, run: &RunId, hold: DriverLease<'_>) {
        let later = self.engine.clock().now().plus_millis(DAMAGED_RUN_RETRY_MS);
        match self.engine.store().load_head(run).await {
            // Where that fails, the lease runs out by itself.
            Ok(Some(head)) => drop(hold.release_until(head.version, Some(later)).await),
            _ => hold.release().await,
        }
    }

    fn try_mark_busy<'d>(&'d self, run: &'d RunId) -> Option<BusyRunGuard<'d>> {
        let fresh =
            self.busy_runs.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
        fresh.then_some(BusyRunGuard { driver: self, run })
    }

    /// Works until nothing can be done, and tells at which point that was.
    async fn run_action_loop(
        &self,
        run: &RunId,
        hold: &mut DriverLease<'_>,
        others: &mut Vec<RunId>,
    ) -> Result<(IdleReason, Arc<LiveRun>), EngineError> {
        // Orders that only other runs, or people, can finish.
        let mut left: Vec<String> = Vec::new();
        // Waits that did not take the document that lies where it was asked for.
        let mut tried: Vec<String> = Vec::new();
        let begun = self.engine.refresh_live_run(run).await?;
        if let Some(what) = self.find_orphan_cancellation(&begun.state).await? {
            self.submit_result(run, hold, what, Vec::new()).await?;
        }
        loop {
            let live = self.engine.get_live_run(run).await?;
            let now = self.engine.clock().now();
            let Some((action, order)) = select_next_action(&live.state, now, &left) else {
                if let Some(arrived) = self.executor.find_arrived_document(&live, &tried).await {
                    if let InputKind::Answered { wait, .. } = &arrived {
                        tried.push(wait.clone());
                    }
                    self.submit_result(run, hold, arrived, Vec::new()).await?;
                    continue;
                }
                if self.submit_tick(run, hold).await? {
                    continue;
                }
                return Ok((IdleReason::from_run(&live, now), live));
            };
            if self.stopping.load(Ordering::Relaxed) {
                return Ok((IdleReason::DriverStopped, live));
            }
            hold.renew_if_late().await?;
            let done = match &order {
                PendingAction::Child { run: child, .. } => {
                    others.push(self.engine.run_id(child));
                    self.start_child(&live, &action, &order).await?.map(|what| (what, Vec::new()))
                }
                PendingAction::Tell { run: other, tell } => {
                    let told = self.notify_run(&live.state, &action, other, tell).await?;
                    others.push(self.engine.run_id(other));
                    Some((told, Vec::new()))
                }
                _ => {
                    let work = self.executor.execute_action(
                        &self.engine,
                        &*self.models,
                        &live,
                        &action,
                        &order,
                    );
                    match self.perform_with_renewal(run, hold, &action, work).await? {
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
                    let done = !matches!(what, InputKind::Halted { .. });
                    self.submit_result(run, hold, what, blobs).await?;
                    if done {
                        self.executor.forget_effect(&live.state.run, &action, &order).await;
                    }
                }
            }
        }
    }

    /// Does something for a run that is held. Now and then it is asked whether the run is still ours,
    /// whether something is due, and whether the result is still wanted; `Empty` where it is not.
    async fn perform_with_renewal<T>(
        &self,
        run: &RunId,
        hold: &mut DriverLease<'_>,
        action: &str,
        work: impl Future<Output = T>,
    ) -> Result<Option<T>, EngineError> {
        tokio::pin!(work);
        loop {
            let look_at = self.compute_next_check(run).await;
            tokio::select! {
                biased;
                done = &mut work => return Ok(Some(done)),
                () = self.engine.clock().sleep_until(look_at) => {}
            }
            hold.renew().await?;
            match self.submit_tick(run, hold).await {
                // A store that is away for a while does not end the work.
                Ok(_) | Err(EngineError::Store(_)) => {}
                Err(other) => return Err(other),
            }
            if let Ok(live) = self.engine.refresh_live_run(run).await
                && !live.state.pending.contains_key(action)
            {
                return Ok(None);
            }
        }
    }

    /// When to look: as soon as something is due, and long before the lease runs out.
    async fn compute_next_check(&self, run: &RunId) -> Timestamp {
        let now = self.engine.clock().now();
        let live = self.engine.get_live_run(run).await.ok();
        let alarm = live.and_then(|live| next_alarm(&live.protocol, &live.state));
        let renewal = now.plus_millis((self.lease_ttl / 3).max(1));
        alarm.filter(|at| *at > now).map_or(renewal, |at| at.min(renewal))
    }

    /// Gives a run what came of an order. Where the store is away, it is offered again for a while:
    /// an order's result is taken once, so that nothing is done twice by it.
    async fn submit_result(
        &self,
        run: &RunId,
        hold: &DriverLease<'_>,
        what: InputKind,
        blobs: Vec<Blob>,
    ) -> Result<(), EngineError> {
        let mut pauses = STORE_RETRY_DELAYS_MS.into_iter();
        let mut left = self.store_retry_window;
        loop {
            let (lease, blobs) = (hold.to_renewed_lease(), blobs.clone());
            let along =
                InputOptions { lease: Some(lease.clone()), blobs, ..InputOptions::default() };
            match self.engine.submit_with_options(run, what.clone(), along).await {
                Ok(_) => {
                    hold.confirm_commit(&lease);
                    return Ok(());
                }
                // Its order was dropped meanwhile: a person cancelled, a deadline passed.
                Err(EngineError::Rejected(
                    InputRejection::UnknownOrder { .. }
                    | InputRejection::WrongOrder { .. }
                    | InputRejection::Ended { .. },
                )) => return Ok(()),
                // An answer that does not fit is not offered again. The result of an order that is still
                // out would be, for ever.
                Err(EngineError::Rejected(_)) if what.action().is_none() => return Ok(()),
                Err(EngineError::Store(away)) if left > 0 && self.should_retry(&away) => {
                    let pause = pauses.next().unwrap_or(STORE_RETRY_DELAYS_MS[3]).min(left);
                    left -= pause;
                    let clock = self.engine.clock();
                    clock.sleep_until(clock.now().plus_millis(pause)).await;
                }
                Err(other) => return Err(other),
            }
        }
    }

    /// Whether a store may be asked again after this.
    fn should_retry(&self, away: &StoreError) -> bool {
        let patient = self.store_retry_window > STORE_RETRY_DELAYS_MS.iter().sum();
        away.is_transient() && (patient || !matches!(away, StoreError::DiskFull))
    }

    /// Lets time go by for a run, where something is due.
    async fn submit_tick(&self, run: &RunId, hold: &DriverLease<'_>) -> Result<bool, EngineError> {
        let live = self.engine.get_live_run(run).await?;
        let due = |at: Timestamp| at <= self.engine.clock().now();
        if !next_alarm(&live.protocol, &live.state).is_some_and(due) {
            return Ok(false);
        }
        let along =
            InputOptions { lease: Some(hold.to_renewed_lease()), ..InputOptions::default() };
        match self.engine.submit_with_options(run, InputKind::Ticked, along).await {
            Ok(_) => Ok(true),
            Err(EngineError::Rejected(
                InputRejection::NothingDue | InputRejection::Ended { .. },
            )) => Ok(false),
            Err(other) => Err(other),
        }
    }
}
