//! The worker: a loop that leases runs, and a task for each leased run.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_run::Timestamp;
use countersign_store::{DueRunsRequest, Lease, Store, StoreError};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use super::driver_provider::DriverProvider;
use super::worker_backoff::{WorkerBackoff, add_jitter, format_error_chain};
use super::worker_config::WorkerConfig;
use super::worker_event::{WorkerEvent, WorkerObserver};
use super::worker_stop::{WorkerStopLevel, WorkerStopSignal};
use crate::clock::Clock;
use crate::driver::{IdleReason, WorkerHeartbeat};
use crate::engine::EngineError;

/// Maximum number of leases of dead workers on this machine that are expired when a worker starts.
const MAX_EXPIRED_LEASES: usize = 10_000;

/// When a worker ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerExitPolicy {
    /// Never; it runs until it is stopped.
    OnStop,
    /// When nothing is due and it holds no run.
    WhenIdle,
    /// When all runs of its first batch are idle.
    AfterFirstBatch,
}

/// Leases and drives due runs.
pub struct Worker {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    drivers: Arc<dyn DriverProvider>,
    observer: Arc<dyn WorkerObserver>,
    heartbeat: Option<Arc<WorkerHeartbeat>>,
    config: WorkerConfig,
}

type DriveResult = Result<IdleReason, EngineError>;

/// The running tasks and their leases.
#[derive(Default)]
struct WorkerTasks {
    tasks: JoinSet<DriveResult>,
    leases: BTreeMap<Id, (Lease, AbortHandle)>,
}

impl WorkerTasks {
    /// Aborts the task of a run that was leased again: its old lease expired unnoticed, so nothing
    /// of it could be committed.
    fn abort_stale(&self, taken: &Lease) {
        for (known, task) in self.leases.values() {
            if known.run == taken.run {
                task.abort();
            }
        }
    }
}

impl Worker {
    /// Creates a worker with this configuration.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        drivers: Arc<dyn DriverProvider>,
        observer: Arc<dyn WorkerObserver>,
        config: WorkerConfig,
    ) -> Self {
        Self { store, clock, drivers, observer, heartbeat: None, config }
    }

    /// Adds a heartbeat. At its start, the worker expires the leases of workers that died on this
    /// machine.
    #[must_use]
    pub fn with_heartbeat(self, presence: Arc<WorkerHeartbeat>) -> Self {
        Self { heartbeat: Some(presence), ..self }
    }

    /// Works until it is stopped, or until the exit policy ends it.
    ///
    /// # Errors
    /// If the store returns an error that a retry cannot fix. Running work is dropped, and its
    /// leases expire.
    pub async fn run(
        &self,
        ending: WorkerExitPolicy,
        stop: WorkerStopSignal,
    ) -> Result<(), StoreError> {
        let started_at = self.clock.now();
        let mut hands = WorkerTasks::default();
        let mut wakes = self.store.subscribe_wakes();
        let mut away = WorkerBackoff::default();
        let mut next_look = started_at;
        let mut next_announcement = started_at;
        let (mut looked, mut begun) = (false, false);
        let graceful = stop.wait_for_level(WorkerStopLevel::Graceful);
        tokio::pin!(graceful);
        loop {
            let now = self.clock.now();
            // A clock that was set back must not extend the pause.
            next_look = next_look.min(now.plus_millis(self.config.max_pause()));
            next_announcement = next_announcement.min(now.plus_millis(self.config.max_pause()));
            if now >= next_announcement {
                match self.send_heartbeat(started_at, now, begun).await {
                    Ok(()) => {
                        if !begun {
                            self.observer.on_event(WorkerEvent::Started);
                            begun = true;
                        }
                        next_announcement = now.plus_millis(self.config.heartbeat_interval());
                    }
                    Err(error) => {
                        next_announcement =
                            now.plus_millis(away.record_failure(error, now, &*self.observer)?);
                    }
                }
            }
            let room = self.config.capacity.saturating_sub(hands.tasks.len());
            let mut idle = false;
            if begun
                && now >= next_look
                && room > 0
                && !(looked && ending == WorkerExitPolicy::AfterFirstBatch)
            {
                match self.take_due_runs(now, room).await {
                    Ok(leases) => {
                        away.record_success(now, &*self.observer);
                        (looked, idle) = (true, leases.is_empty());
                        self.spawn_tasks(&mut hands, leases, now);
                        next_look = now.plus_millis(add_jitter(self.config.poll_interval));
                    }
                    Err(error) => {
                        next_look =
                            now.plus_millis(away.record_failure(error, now, &*self.observer)?);
                    }
                }
            }
            let ends = match ending {
                WorkerExitPolicy::OnStop => false,
                WorkerExitPolicy::WhenIdle => idle,
                WorkerExitPolicy::AfterFirstBatch => looked,
            };
            if ends && hands.tasks.is_empty() {
                break;
            }
            let full = hands.tasks.len() >= self.config.capacity;
            let until = if full { next_announcement } else { next_look.min(next_announcement) };
            tokio::select! {
                biased;
                () = &mut graceful => break,
                Some(done) = hands.tasks.join_next_with_id() => {
                    let now = self.clock.now();
                    if let Some(error) = self.finish_task(&mut hands, done) {
                        next_look = now.plus_millis(away.record_failure(error, now, &*self.observer)?);
                    } else if away.is_store_reachable() {
                        // A slot is free, and more runs may be due.
                        next_look = now;
                    }
                }
                () = wakes.wait_for_wake(), if !full && away.is_store_reachable() => next_look = self.clock.now(),
                () = self.clock.sleep_until(until) => {}
            }
        }
        self.shut_down(hands, &stop).await;
        Ok(())
    }

    async fn take_due_runs(&self, now: Timestamp, room: usize) -> Result<Vec<Lease>, StoreError> {
        let WorkerConfig { name, max_per_tenant: per_tenant, tenants, lease_ttl: term, .. } =
            &self.config;
        let taking = DueRunsRequest {
            per_tenant: *per_tenant,
            tenants: tenants.clone(),
            ..DueRunsRequest::new(name, now.0, now.plus_millis(*term).0, room)
        };
        self.store.acquire_due_runs(&taking).await
    }

    /// Starts a task for each leased run.
    fn spawn_tasks(&self, hands: &mut WorkerTasks, leases: Vec<Lease>, since: Timestamp) {
        for lease in leases {
            let run = lease.run.clone();
            match self.drivers.get_driver(&run.tenant) {
                Ok(driver) => {
                    self.observer.on_event(WorkerEvent::RunTaken(run));
                    hands.abort_stale(&lease);
                    let held = lease.clone();
                    let task =
                        hands.tasks.spawn(async move { driver.drive_leased(held, since).await });
                    hands.leases.insert(task.id(), (lease, task));
                }
                Err(why) => {
                    self.observer.on_event(WorkerEvent::RunFailed(run, why));
                    self.defer_run(lease);
                }
            }
        }
    }

    /// Releases a run that cannot be processed here, and delays its next lease.
    fn defer_run(&self, lease: Lease) {
        let (store, later) =
            (Arc::clone(&self.store), self.clock.now().plus_millis(self.config.lease_ttl));
        tokio::spawn(async move {
            // If this fails, the lease expires by itself.
            if let Ok(Some(head)) = store.load_head(&lease.run).await {
                drop(store.suspend_run(&lease, head.version, Some(later.0)).await);
            }
        });
    }

    /// Handles a finished task. Returns the error if the store was unavailable.
    fn finish_task(
        &self,
        hands: &mut WorkerTasks,
        done: Result<(Id, DriveResult), JoinError>,
    ) -> Option<StoreError> {
        let (id, worked) = match done {
            Ok((id, worked)) => (id, Ok(worked)),
            Err(error) => (error.id(), Err(error)),
        };
        let (lease, _) = hands.leases.remove(&id)?;
        let run = lease.run.clone();
        let news = match worked {
            Ok(Ok(IdleReason::LeasedElsewhere)) => WorkerEvent::LeaseLost(run),
            Ok(Ok(rest)) => WorkerEvent::RunIdle(run, rest),
            // The run is still due; if the lease could not be released, it expires.
            Ok(Err(EngineError::Store(away))) if away.is_transient() => return Some(away),
            Ok(Err(error)) => WorkerEvent::RunFailed(run, format_error_chain(&error)),
            Err(error) if error.is_cancelled() => WorkerEvent::LeaseLost(run),
            // An internal fault: another worker retries, unless it happened too often.
            Err(error) => {
                let store = Arc::clone(&self.store);
                tokio::spawn(async move { drop(store.expire_lease(&lease).await) });
                WorkerEvent::RunFailed(run, format!("the task crashed: {error}"))
            }
        };
        self.observer.on_event(news);
        None
    }

    /// Lets running tasks end, releases the runs that do not end in time, and removes the worker.
    async fn shut_down(&self, mut hands: WorkerTasks, stop: &WorkerStopSignal) {
        if !hands.tasks.is_empty() {
            self.observer.on_event(WorkerEvent::Stopping(hands.tasks.len()));
        }
        self.drivers.list_drivers().iter().for_each(|driver| driver.stop());
        let over = self.clock.now().plus_millis(self.config.grace_period);
        let (hurry, grace) =
            (stop.wait_for_level(WorkerStopLevel::Immediate), self.clock.sleep_until(over));
        tokio::pin!(hurry, grace);
        loop {
            tokio::select! {
                biased;
                () = &mut hurry => break,
                done = hands.tasks.join_next_with_id() => match done {
                    Some(done) => drop(self.finish_task(&mut hands, done)),
                    None => break,
                },
                () = &mut grace => break,
            }
        }
        hands.tasks.shutdown().await;
        let left = std::mem::take(&mut hands.leases);
        for (lease, _) in left.values() {
            // Actions stay pending. If the store is unavailable, the lease expires by itself.
            drop(self.store.release_lease(lease).await);
        }
        drop(self.store.remove_worker(&self.config.name).await);
        self.observer.on_event(WorkerEvent::Stopped(left.len()));
    }

    /// Sends a heartbeat. The first one also expires the leases of workers that died here.
    async fn send_heartbeat(
        &self,
        since: Timestamp,
        now: Timestamp,
        begun: bool,
    ) -> Result<(), StoreError> {
        let WorkerConfig { name, host, version, capacity, lease_ttl: term, .. } = &self.config;
        let worker = countersign_store::WorkerInfo {
            name: name.clone(),
            host: host.clone(),
            pid: std::process::id(),
            version: version.clone(),
            capacity: *capacity as u64,
            started_at: since.0,
        };
        self.store.record_heartbeat(&worker, now.0, now.plus_millis(*term).0).await?;
        if let Some(presence) = self.heartbeat.as_ref().filter(|_| !begun) {
            for lease in self.store.list_leases(now.0, MAX_EXPIRED_LEASES).await? {
                // A lease with our own name belongs to an earlier process: this one has acquired
                // none yet.
                if presence.is_worker_dead(&lease.worker) || lease.worker == *name {
                    self.store.expire_lease(&lease).await?;
                }
            }
        }
        Ok(())
    }
}
