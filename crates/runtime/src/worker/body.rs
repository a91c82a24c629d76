//! The worker itself: one loop that takes, and a task for each run it holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_core::run::Time;
use countersign_store::{Lease, Store, StoreError, Taking};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use super::away::{Away, jittered, whole};
use super::crew::Crew;
use super::news::{News, Report};
use super::stop::{Hurry, Stop};
use super::terms::Terms;
use crate::clock::Clock;
use crate::driver::{Presence, Rest};
use crate::engine::EngineError;

/// How many leases of workers that died on this machine are given back when another begins.
const MOST_FREED: usize = 10_000;

/// When a worker ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Never; it is told to stop.
    Told,
    /// When nothing is due and it holds nothing.
    Idle,
    /// When what it took at first has come to rest.
    Once,
}

/// Works on runs that are due.
pub struct Worker {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    crew: Arc<dyn Crew>,
    report: Arc<dyn Report>,
    presence: Option<Arc<Presence>>,
    terms: Terms,
}

type Worked = Result<Rest, EngineError>;

/// What it has in hand.
#[derive(Default)]
struct Hands {
    tasks: JoinSet<Worked>,
    leases: BTreeMap<Id, (Lease, AbortHandle)>,
}

impl Hands {
    /// Drops what is under way for a run that was taken anew: its lease ran out unseen, so nothing of it
    /// could be kept.
    fn drop_stale(&self, taken: &Lease) {
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
        crew: Arc<dyn Crew>,
        report: Arc<dyn Report>,
        terms: Terms,
    ) -> Self {
        Self { store, clock, crew, report, presence: None, terms }
    }

    /// The same; it gives back at its beginning what workers hold that died on this machine.
    #[must_use]
    pub fn present(self, presence: Arc<Presence>) -> Self {
        Self { presence: Some(presence), ..self }
    }

    /// Works until it is told to stop, or until there is nothing to do where that ends it.
    ///
    /// # Errors
    /// Where the store says something that waiting cannot mend. What is under way is dropped then, and
    /// its leases run out.
    pub async fn work(&self, ending: Ending, stop: Stop) -> Result<(), StoreError> {
        let started_at = self.clock.now();
        let mut hands = Hands::default();
        let mut wakes = self.store.wakes();
        let mut away = Away::default();
        let mut next_look = started_at;
        let mut next_announcement = started_at;
        let (mut looked, mut begun) = (false, false);
        let told = stop.reaches(Hurry::Ends);
        tokio::pin!(told);
        loop {
            let now = self.clock.now();
            // A clock that was set back does not make it wait for the time that was.
            next_look = next_look.min(now.after(self.terms.longest_pause()));
            next_announcement = next_announcement.min(now.after(self.terms.longest_pause()));
            if now >= next_announcement {
                match self.announce(started_at, now, begun).await {
                    Ok(()) => {
                        if !begun {
                            self.report.told(News::Began);
                            begun = true;
                        }
                        next_announcement = now.after(self.terms.heartbeat());
                    }
                    Err(error) => {
                        next_announcement = now.after(away.failed(error, now, &*self.report)?);
                    }
                }
            }
            let room = self.terms.capacity.saturating_sub(hands.tasks.len());
            let mut idle = false;
            if begun && now >= next_look && room > 0 && !(looked && ending == Ending::Once) {
                match self.take(now, room).await {
                    Ok(leases) => {
                        away.answered(now, &*self.report);
                        (looked, idle) = (true, leases.is_empty());
                        self.begin(&mut hands, leases, now);
                        next_look = now.after(jittered(self.terms.poll));
                    }
                    Err(error) => next_look = now.after(away.failed(error, now, &*self.report)?),
                }
            }
            let ends = match ending {
                Ending::Told => false,
                Ending::Idle => idle,
                Ending::Once => looked,
            };
            if ends && hands.tasks.is_empty() {
                break;
            }
            let full = hands.tasks.len() >= self.terms.capacity;
            let until = if full { next_announcement } else { next_look.min(next_announcement) };
            tokio::select! {
                biased;
                () = &mut told => break,
                Some(done) = hands.tasks.join_next_with_id() => {
                    let now = self.clock.now();
                    if let Some(error) = self.ended(&mut hands, done) {
                        next_look = now.after(away.failed(error, now, &*self.report)?);
                    } else if away.is_here() {
                        // A hand is free, and more may be due.
                        next_look = now;
                    }
                }
                () = wakes.next(), if !full && away.is_here() => next_look = self.clock.now(),
                () = self.clock.until(until) => {}
            }
        }
        self.leave(hands, &stop).await;
        Ok(())
    }

    async fn take(&self, now: Time, room: usize) -> Result<Vec<Lease>, StoreError> {
        let Terms { name, per_tenant, tenants, term, .. } = &self.terms;
        let taking = Taking {
            per_tenant: *per_tenant,
            tenants: tenants.clone(),
            ..Taking::new(name, now.0, now.after(*term).0, room)
        };
        self.store.take(&taking).await
    }

    /// Begins to work on what was taken.
    fn begin(&self, hands: &mut Hands, leases: Vec<Lease>, since: Time) {
        for lease in leases {
            let run = lease.run.clone();
            match self.crew.driver(&run.tenant) {
                Ok(driver) => {
                    self.report.told(News::Took(run));
                    hands.drop_stale(&lease);
                    let held = lease.clone();
                    let task = hands.tasks.spawn(async move { driver.serve(held, since).await });
                    hands.leases.insert(task.id(), (lease, task));
                }
                Err(why) => {
                    self.report.told(News::Failed(run, why));
                    self.put_off(lease);
                }
            }
        }
    }

    /// Gives back a run that nobody here can work on, so that it is not taken again at once.
    fn put_off(&self, lease: Lease) {
        let (store, later) = (Arc::clone(&self.store), self.clock.now().after(self.terms.term));
        tokio::spawn(async move {
            // Where that fails, the lease runs out by itself.
            if let Ok(Some(head)) = store.head(&lease.run).await {
                drop(store.rest(&lease, head.version, Some(later.0)).await);
            }
        });
    }

    /// A run was worked on to an end of some kind. Tells where it was the store that failed.
    fn ended(
        &self,
        hands: &mut Hands,
        done: Result<(Id, Worked), JoinError>,
    ) -> Option<StoreError> {
        let (id, worked) = match done {
            Ok((id, worked)) => (id, Ok(worked)),
            Err(error) => (error.id(), Err(error)),
        };
        let (lease, _) = hands.leases.remove(&id)?;
        let run = lease.run.clone();
        let news = match worked {
            Ok(Ok(Rest::Held)) => News::Lost(run),
            Ok(Ok(rest)) => News::Rested(run, rest),
            // The run is due still, and the lease runs out where it could not be given back.
            Ok(Err(EngineError::Store(away))) if away.may_pass() => return Some(away),
            Ok(Err(error)) => News::Failed(run, whole(&error)),
            Err(error) if error.is_cancelled() => News::Lost(run),
            // A fault of ours: another tries, unless it happened too often.
            Err(error) => {
                let store = Arc::clone(&self.store);
                tokio::spawn(async move { drop(store.expire(&lease).await) });
                News::Failed(run, format!("the work broke down: {error}"))
            }
        };
        self.report.told(news);
        None
    }

    /// Lets what is in hand end, gives back what does not in time, and says goodbye.
    async fn leave(&self, mut hands: Hands, stop: &Stop) {
        if !hands.tasks.is_empty() {
            self.report.told(News::Stopping(hands.tasks.len()));
        }
        self.crew.drivers().iter().for_each(|driver| driver.stop());
        let over = self.clock.now().after(self.terms.grace);
        let (hurry, grace) = (stop.reaches(Hurry::Leaves), self.clock.until(over));
        tokio::pin!(hurry, grace);
        loop {
            tokio::select! {
                biased;
                () = &mut hurry => break,
                done = hands.tasks.join_next_with_id() => match done {
                    Some(done) => drop(self.ended(&mut hands, done)),
                    None => break,
                },
                () = &mut grace => break,
            }
        }
        hands.tasks.shutdown().await;
        let left = std::mem::take(&mut hands.leases);
        for (lease, _) in left.values() {
            // What was ordered stays ordered. Where the store is away, the lease runs out by itself.
            drop(self.store.release(lease).await);
        }
        drop(self.store.retire(&self.terms.name).await);
        self.report.told(News::Stopped(left.len()));
    }

    /// Says that it is there. The first time it also tidies up after those that died here.
    async fn announce(&self, since: Time, now: Time, begun: bool) -> Result<(), StoreError> {
        let Terms { name, host, version, capacity, term, .. } = &self.terms;
        let worker = countersign_store::Worker {
            name: name.clone(),
            host: host.clone(),
            pid: std::process::id(),
            version: version.clone(),
            capacity: *capacity as u64,
            started_at: since.0,
        };
        self.store.announce(&worker, now.0, now.after(*term).0).await?;
        if let Some(presence) = self.presence.as_ref().filter(|_| !begun) {
            for lease in self.store.held(now.0, MOST_FREED).await? {
                // Our own name is one that ended under it: nothing was taken yet.
                if presence.is_gone(&lease.worker) || lease.worker == *name {
                    self.store.expire(&lease).await?;
                }
            }
        }
        Ok(())
    }
}
