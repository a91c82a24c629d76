//! The worker itself: one loop that takes, and a task for each run it holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_core::run::Timestamp;
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

/// How many leases of workers that died on this machine are given back when another begins.
const MAX_EXPIRED_LEASES: usize = 10_000;

/// When a worker ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerExitPolicy {
    /// Never; it is told to stop.
    OnStop,
    /// When nothing is due and it holds nothing.
    WhenIdle,
    /// When what it took at first has come to rest.
    AfterFirstBatch,
}

/// Works on runs that are due.
pub struct Worker {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    drivers: Arc<dyn DriverProvider>,
    observer: Arc<dyn WorkerObserver>,
    heartbeat: Option<Arc<WorkerHeartbeat>>,
    config: WorkerConfig,
}

type DriveResult = Result<IdleReason, EngineError>;

/// What it has in hand.
#[derive(Default)]
struct WorkerTasks {
    tasks: JoinSet<DriveResult>,
    leases: BTreeMap<Id, (Lease, AbortHandle)>,
}

impl WorkerTasks {
    /// Drops what is under way for a run that was taken anew: its lease ran out unseen, so nothing of it
    /// could be kept.
    fn abort_stale(&self, taken: &Lease) {
        for (known, task) in self.leases.values() {
            if known.run == taken.run {
                task.abort();
            }
        }
    }
}

impl Worker {
    /// A worker on these terms.
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

    /// The same; it gives back at its beginning what workers hold that died on this machine.
    #[must_use]
    pub fn with_heartbeat(self, presence: Arc<WorkerHeartbeat>) -> Self {
        Self { heartbeat: Some(presence), ..self }
    }

    /// Works until it is told to stop, or until there is nothing to do where that ends it.
    ///
    /// # Errors
    /// Where the store says something that waiting cannot mend. What is under way is dropped then, and
    /// its leases run out.
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
        let told = stop.wait_for_level(WorkerStopLevel::Graceful);
        tokio::pin!(told);
        loop {
            let now = self.clock.now();
            // A clock that was set back does not make it wait for the time that was.
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
                            now.plus_millis(away.record_failure(error, now, &*self.observer)?)
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
                () = &mut told => break,
                Some(done) = hands.tasks.join_next_with_id() => {
                    let now = self.clock.now();
                    if let Some(error) = self.finish_task(&mut hands, done) {
                        next_look = now.plus_millis(away.record_failure(error, now, &*self.observer)?);
                    } else if away.is_store_reachable() {
                        // A hand is free, and more may be due.
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

    /// Begins to work on what was taken.
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

    /// Gives back a run that nobody here can work on, so that it is not taken again at once.
    fn defer_run(&self, lease: Lease) {
        let (store, later) =
            (Arc::clone(&self.store), self.clock.now().plus_millis(self.config.lease_ttl));
        tokio::spawn(async move {
            // Where that fails, the lease runs out by itself.
            if let Ok(Some(head)) = store.load_head(&lease.run).await {
                drop(store.suspend_run(&lease, head.version, Some(later.0)).await);
            }
        });
    }

    /// A run was worked on to an end of some kind. Tells where it was the store that failed.
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
            // The run is due still, and the lease runs out where it could not be given back.
            Ok(Err(EngineError::Store(away))) if away.is_transient() => return Some(away),
            Ok(Err(error)) => WorkerEvent::RunFailed(run, format_error_chain(&error)),
            Err(error) if error.is_cancelled() => WorkerEvent::LeaseLost(run),
            // A fault of ours: another tries, unless it happened too often.
            Err(error) => {
                let store = Arc::clone(&self.store);
                tokio::spawn(async move { drop(store.expire_lease(&lease).await) });
                WorkerEvent::RunFailed(run, format!("the work broke down: {error}"))
            }
        };
        self.observer.on_event(news);
        None
    }

    /// Lets what is in hand end, gives back what does not in time, and says goodbye.
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
            // What was ordered stays ordered. Where the store is away, the lease runs out by itself.
            drop(self.store.release_lease(lease).await);
        }
        drop(self.store.remove_worker(&self.config.name).await);
        self.observer.on_event(WorkerEvent::Stopped(left.len()));
    }

    /// Says that it is there. The first time it also tidies up after those that died here.
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
                // Our own name is one that ended under it: nothing was taken yet.
                if presence.is_worker_dead(&lease.worker) || lease.worker == *name {
                    self.store.expire_lease(&lease).await?;
                }
            }
        }
        Ok(())
    }
}
