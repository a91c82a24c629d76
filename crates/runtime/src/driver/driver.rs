//! The driver: works on runs until nothing more can be done now.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_run::{
    InputKind, InputRejection, PendingAction, Timestamp, next_alarm, next_alarm_after,
};
use countersign_store::{Blob, Lease, RunId, StoreError};
use tokio::sync::Notify;
use tracing::{Instrument as _, debug, info, info_span, trace, warn};

use super::driver_lease::{DEFAULT_LEASE_TTL_MS, DriverLease};
use super::effect_executor::EffectExecutor;
use super::idle_reason::IdleReason;
use super::keyed_futures::KeyedFutures;
use super::model_resolver::ModelResolver;
use super::next_action::select_next_action;
use super::run_deliveries::{DeliveriesUnderWay, start_ready_deliveries};
use super::worker_heartbeat::WorkerHeartbeat;
use crate::engine::{Engine, EngineError, InputOptions, LiveRun};
use crate::memory_recorder::record_idle_run;

/// Delays in milliseconds before a result that the store could not keep is submitted again; the
/// last delay repeats. A model's reply is expensive, so the driver retries before it reports that
/// the store is unavailable.
const STORE_RETRY_DELAYS_MS: [i64; 4] = [100, 300, 1_000, 3_000];

/// Delay in milliseconds before a run that cannot be processed at all, because it or its protocol
/// is damaged, is tried again.
const DAMAGED_RUN_RETRY_MS: i64 = 60_000;

/// Performs the pending actions of runs under a lease, on behalf of one worker.
pub struct Driver {
    pub(super) engine: Arc<Engine>,
    models: Arc<dyn ModelResolver>,
    pub(super) executor: EffectExecutor,
    worker: String,
    heartbeat: Option<Arc<WorkerHeartbeat>>,
    lease_ttl: i64,
    /// How long a result is retried while the store is unavailable, in milliseconds.
    store_retry_window: i64,
    stopping: AtomicBool,
    /// Runs that this driver works on now: a lease distinguishes workers, not calls of one worker.
    busy_runs: Mutex<BTreeSet<RunId>>,
    /// Notified when a run leaves `busy_runs`.
    run_released: Notify,
}

/// Ensures that one call at a time works on a run. The guard releases the run when the call ends,
/// for whatever reason.
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

/// Closes the connections to MCP servers that a run used, when the work on it ends for whatever
/// reason.
struct RunConnections<'d> {
    executor: &'d EffectExecutor,
    run: &'d str,
}

impl Drop for RunConnections<'_> {
    fn drop(&mut self) {
        self.executor.close_connections(self.run);
    }
}

impl Driver {
    /// Creates a driver for a worker; `worker` must be unique among all workers.
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

    /// Sets how long a lease lasts without renewal, in milliseconds. The default is
    /// [`DEFAULT_LEASE_TTL_MS`].
    #[must_use]
    pub fn with_lease_ttl(self, term: i64) -> Self {
        Self { lease_ttl: term, ..self }
    }

    /// Sets how long a result that cannot be stored is retried, in milliseconds. A window longer
    /// than the default also retries when the disk is full, because a long-running process has the
    /// time.
    #[must_use]
    pub fn with_store_retry(self, patience: i64) -> Self {
        Self { store_retry_window: patience, ..self }
    }

    /// Stops the driver: current work ends, no new work starts, and runs are released as they are.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Releases every run that this worker holds, for a process that exits while work is in
    /// progress. Call it when no work is running any more; the next worker repeats the unfinished
    /// work.
    pub async fn release_leases(&self) -> Result<(), StoreError> {
        let store = self.engine.store();
        for lease in store.list_leases(self.engine.clock().now().0, usize::MAX).await? {
            if lease.worker == self.worker {
                store.release_lease(&lease).await?;
            }
        }
        Ok(())
    }

    /// Adds a heartbeat that lets other workers on this machine see that this one is alive. The
    /// driver takes the worker name of the heartbeat.
    #[must_use]
    pub fn with_heartbeat(self, presence: impl Into<Arc<WorkerHeartbeat>>) -> Self {
        let presence = presence.into();
        Self { worker: presence.worker().to_owned(), heartbeat: Some(presence), ..self }
    }

    /// Works on a run, and on the runs that it starts and notifies, until each is idle. Returns why
    /// the first run is idle. Runs that are started together are processed concurrently.
    ///
    /// The future may be dropped at any time and the call repeated: committed results stay, and
    /// unfinished actions are performed again under the same id.
    pub async fn drive(&self, run: &str) -> Result<IdleReason, EngineError> {
        let first = self.engine.run_id(run);
        let mut works = KeyedFutures::new();
        works.push(first.clone(), self.drive_single_run(first.clone()));
        let mut rest = IdleReason::LeasedElsewhere;
        while let Some((run, reached)) = works.next().await {
            let (reached, others) = reached?;
            // Another of our own tasks may hold the run, and reports its idle reason.
            if run == first && reached != IdleReason::LeasedElsewhere {
                rest = reached;
            }
            for other in others {
                works.push(other.clone(), self.drive_single_run(other));
            }
        }
        Ok(rest)
    }

    /// Works on a run that is already leased until it is idle; `since` is when the lease was
    /// requested. Runs that it starts and notifies become due by themselves, for any worker.
    pub async fn drive_leased(
        &self,
        lease: Lease,
        since: Timestamp,
    ) -> Result<IdleReason, EngineError> {
        let run = lease.run.clone();
        // An earlier call whose lease expired may be about to notice that.
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

    /// Works on one run until it is idle. Also returns the runs that need work because of it.
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

    /// Returns why a run could not be leased: another worker holds it, or it is parked.
    async fn find_refusal_reason(&self, run: &RunId) -> Result<IdleReason, EngineError> {
        let head = self.engine.store().load_head(run).await?;
        let parked = head.is_some_and(|head| head.is_parked(self.engine.clock().now().0));
        Ok(if parked { IdleReason::Parked } else { IdleReason::LeasedElsewhere })
    }

    /// Works on a leased run and releases it. Returns `None` if the run must be checked again,
    /// because a client that submitted an input meanwhile found the run leased and left it to this
    /// driver.
    async fn drive_until_idle(
        &self,
        run: &RunId,
        mut hold: DriverLease<'_>,
        others: &mut Vec<RunId>,
    ) -> Result<Option<IdleReason>, EngineError> {
        let span = info_span!("run", countersign.run = run.id, countersign.worker = self.worker);
        let _connections = RunConnections { executor: &self.executor, run: &run.id };
        let (rest, live) = match self.run_action_loop(run, &mut hold, others).instrument(span).await
        {
            Ok(worked) => worked,
            // Our lease expired, and another worker has the run.
            Err(EngineError::Store(StoreError::Fenced { .. })) => {
                warn!(
                    countersign.run = run.id,
                    "the lease expired, and another worker has the run"
                );
                return Ok(Some(IdleReason::LeasedElsewhere));
            }
            Err(EngineError::Store(away)) if away.is_transient() => {
                hold.release().await;
                return Err(away.into());
            }
            Err(other) => {
                warn!(countersign.run = run.id, "the run cannot be processed, and is tried later");
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
            // The lease expires by itself; what matters is whether there is a new version.
            Err(_) => {
                let head = self.engine.store().load_head(run).await?;
                let same = head.is_none_or(|head| head.version <= live.state.version);
                Ok(same.then_some(rest))
            }
        }
    }

    /// Releases a run that cannot be processed and delays its next attempt, so that workers do not
    /// try it continuously.
    async fn defer_run(&self, run: &RunId, hold: DriverLease<'_>) {
        let later = self.engine.clock().now().plus_millis(DAMAGED_RUN_RETRY_MS);
        match self.engine.store().load_head(run).await {
            // If this fails, the lease expires by itself.
            Ok(Some(head)) => drop(hold.release_until(head.version, Some(later)).await),
            _ => hold.release().await,
        }
    }

    fn try_mark_busy<'d>(&'d self, run: &'d RunId) -> Option<BusyRunGuard<'d>> {
        let fresh =
            self.busy_runs.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
        fresh.then_some(BusyRunGuard { driver: self, run })
    }

    /// Performs actions until nothing can be done, and returns the idle reason with the run's
    /// state.
    async fn run_action_loop(
        &self,
        run: &RunId,
        hold: &mut DriverLease<'_>,
        others: &mut Vec<RunId>,
    ) -> Result<(IdleReason, Arc<LiveRun>), EngineError> {
        // Actions that only other runs or people can finish.
        let mut left: Vec<String> = Vec::new();
        // Waits that rejected the document at their suggested path.
        let mut tried: Vec<String> = Vec::new();
        let mut deliveries = DeliveriesUnderWay::new();
        let begun = self.engine.refresh_live_run(run).await?;
        if let Some(what) = self.find_orphan_cancellation(&begun.state).await? {
            self.submit_result(run, hold, what, Vec::new()).await?;
        }
        loop {
            let live = self.engine.get_live_run(run).await?;
            let now = self.engine.clock().now();
            if !self.stopping.load(Ordering::Relaxed) {
                start_ready_deliveries(&self.engine, &live, now, &mut deliveries);
            }
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
                if !deliveries.is_empty() {
                    if self.stopping.load(Ordering::Relaxed) {
                        return Ok((IdleReason::DriverStopped, live));
                    }
                    self.await_deliveries(run, hold, &mut deliveries).await?;
                    continue;
                }
                let reason = IdleReason::from_run(&live, now);
                info!(countersign.phase = live.state.phase, ?reason, "idle");
                return Ok((reason, live));
            };
            if self.stopping.load(Ordering::Relaxed) {
                return Ok((IdleReason::DriverStopped, live));
            }
            hold.renew_if_late().await?;
            debug!(action, kind = order.kind(), "performing an action");
            let done = match &order {
                PendingAction::Child { run: child, .. } => {
                    others.push(self.engine.run_id(child));
                    self.start_child(&live, &action, &order).await?.map(|what| (what, Vec::new()))
                }
                PendingAction::Notify { run: other, notification: tell } => {
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
                    let performed =
                        self.perform_with_renewal(run, hold, (&action, work), &mut deliveries);
                    match performed.await? {
                        Some(done) => done,
                        // The result is no longer needed, and the action is gone.
                        None => continue,
                    }
                }
            };
            match done {
                None => left.push(action),
                Some((what, blobs)) => {
                    // A refused action stays pending, and so does its journal entry.
                    let done = !matches!(what, InputKind::Halted { .. });
                    self.submit_result(run, hold, what, blobs).await?;
                    if done {
                        self.executor.forget_effect(&live.state.run, &action, &order).await;
                    }
                }
            }
        }
    }

    /// Performs the work of an action for a leased run. At intervals it renews the lease, submits
    /// due alarms, and checks whether the result is still needed. Deliveries go on meanwhile.
    /// Returns `None` if the result is not needed.
    async fn perform_with_renewal<T>(
        &self,
        run: &RunId,
        hold: &mut DriverLease<'_>,
        (action, work): (&str, impl Future<Output = T>),
        deliveries: &mut DeliveriesUnderWay,
    ) -> Result<Option<T>, EngineError> {
        tokio::pin!(work);
        loop {
            let look_at = self.compute_next_check(run).await;
            tokio::select! {
                biased;
                done = &mut work => return Ok(Some(done)),
                Some((_, delivered)) = deliveries.next(), if !deliveries.is_empty() => {
                    match self.submit_result(run, hold, delivered, Vec::new()).await {
                        // A result that the store cannot keep is lost, and the delivery repeated.
                        Ok(()) | Err(EngineError::Store(_)) => continue,
                        Err(other) => return Err(other),
                    }
                }
                () = self.engine.clock().sleep_until(look_at) => {}
            }
            hold.renew().await?;
            match self.submit_tick(run, hold).await {
                // A store that is unavailable for a while does not end the work.
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

    /// Returns when to check next: as soon as an alarm is due, and well before the lease expires.
    async fn compute_next_check(&self, run: &RunId) -> Timestamp {
        let now = self.engine.clock().now();
        let live = self.engine.get_live_run(run).await.ok();
        let alarm = live.and_then(|live| next_alarm(&live.protocol, &live.state));
        let renewal = now.plus_millis((self.lease_ttl / 3).max(1));
        alarm.filter(|at| *at > now).map_or(renewal, |at| at.min(renewal))
    }

    /// Submits the result of an action. If the store is unavailable, the driver retries for a
    /// while. A run accepts the result of an action once, so that a retry has no second effect.
    pub(super) async fn submit_result(
        &self,
        run: &RunId,
        hold: &DriverLease<'_>,
        what: InputKind,
        blobs: Vec<Blob>,
    ) -> Result<(), EngineError> {
        trace!(input = what.kind(), "submitting the result of an action");
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
                // The action was dropped meanwhile: a person cancelled, or a deadline passed.
                Err(EngineError::Rejected(
                    InputRejection::UnknownAction { .. }
                    | InputRejection::WrongActionKind { .. }
                    | InputRejection::Ended { .. },
                )) => return Ok(()),
                // A rejected answer to a wait is not submitted again. The result of a pending
                // action would be submitted again endlessly, so that is an error.
                Err(EngineError::Rejected(_)) if what.action().is_none() => return Ok(()),
                Err(EngineError::Store(away)) if left > 0 && self.should_retry(&away) => {
                    let pause = pauses.next().unwrap_or(STORE_RETRY_DELAYS_MS[3]).min(left);
                    left -= pause;
                    warn!(pause_ms = pause, "the store is unavailable, submitting again");
                    let clock = self.engine.clock();
                    clock.sleep_until(clock.now().plus_millis(pause)).await;
                }
                Err(other) => return Err(other),
            }
        }
    }

    /// Returns whether the store operation may be retried after this error.
    fn should_retry(&self, away: &StoreError) -> bool {
        let patient = self.store_retry_window > STORE_RETRY_DELAYS_MS.iter().sum();
        away.is_transient() && (patient || !matches!(away, StoreError::DiskFull))
    }

    /// Submits `Ticked` if an alarm of the run is due. Returns whether the run accepted it.
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
