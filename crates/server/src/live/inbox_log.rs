//! The changes of an inbox, numbered so that clients can continue after a disconnect.
//!
//! A task follows the inbox of a tenant while at least one client is subscribed. It looks up a
//! changed run at once, and polls the whole inbox periodically, because other processes change it
//! too. All data comes from the store.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use countersign_runtime::engine::generate_run_name;
use countersign_store::{RunId, Store, StoreError, TenantId, WaitFilter, WaitRow};
use tokio::sync::{broadcast, watch};

use super::RunHub;

/// Number of changes that are kept for clients that reconnect.
const MAX_CHANGES: usize = 10_000;

/// Number of waits that are read at once.
const WAITS_PER_PAGE: usize = 1_000;

/// Minimum interval between two polls of the whole inbox.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Ratio of pause to polling time: polling takes at most a twentieth of the time.
const POLL_BACKOFF_FACTOR: u32 = 20;

/// A change of an inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InboxChange {
    /// A wait was opened.
    Opened(WaitRow),
    /// A wait was closed.
    Closed {
        /// The run of the closed wait.
        run: String,
        /// The id of the closed wait, unique in its run.
        id: String,
    },
}

/// The changes of one inbox, numbered from the start of its following.
#[derive(Debug)]
pub struct InboxLog {
    /// Identifies this following, because the numbers restart with every one.
    epoch: String,
    changes: Mutex<VecDeque<(u64, InboxChange)>>,
    newest: watch::Sender<u64>,
}

impl InboxLog {
    fn new() -> Self {
        let (epoch, newest) = (generate_run_name(), watch::Sender::new(0));
        Self { epoch, changes: Mutex::default(), newest }
    }

    /// Returns the event id of a change, which a client sends when it reconnects.
    #[must_use]
    pub fn event_id(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// Parses an event id. Returns `None` if the changes after it are no longer available.
    #[must_use]
    pub fn parse_event_id(&self, name: &str) -> Option<u64> {
        let (epoch, number) = name.rsplit_once('-')?;
        let number: u64 = number.parse().ok().filter(|_| epoch == self.epoch)?;
        let kept = lock(&self.changes);
        let first = kept.front().map_or(*self.newest.borrow() + 1, |(first, _)| *first);
        (number + 1 >= first && number <= *self.newest.borrow()).then_some(number)
    }

    /// Returns the newest number and a receiver for newer ones.
    #[must_use]
    pub fn subscribe(&self) -> (u64, watch::Receiver<u64>) {
        let receiver = self.newest.subscribe();
        let newest = *receiver.borrow();
        (newest, receiver)
    }

    /// Returns the changes after a number; `None` if they are no longer available.
    #[must_use]
    pub fn changes_after(&self, position: u64) -> Option<Vec<(u64, InboxChange)>> {
        let kept = lock(&self.changes);
        if kept.front().is_some_and(|(first, _)| *first > position + 1) {
            return None;
        }
        Some(kept.iter().filter(|(number, _)| *number > position).cloned().collect())
    }

    fn push_change(&self, change: InboxChange) {
        let mut kept = lock(&self.changes);
        let number = *self.newest.borrow() + 1;
        kept.push_back((number, change));
        if kept.len() > MAX_CHANGES {
            kept.pop_front();
        }
        drop(kept);
        self.newest.send_replace(number);
    }
}

/// The inboxes that are being followed, by tenant.
#[derive(Debug, Default)]
pub struct InboxRegistry {
    logs: Mutex<BTreeMap<TenantId, Arc<InboxLog>>>,
}

impl InboxRegistry {
    /// Follows the inbox of a tenant, or joins the task that already does.
    pub async fn follow_tenant(
        self: &Arc<Self>,
        tenant: &TenantId,
        store: &Arc<dyn Store>,
        hub: &Arc<RunHub>,
    ) -> Result<(Arc<InboxLog>, watch::Receiver<u64>), StoreError> {
        let known = || {
            let log = lock(&self.logs).get(tenant).cloned()?;
            let ear = log.newest.subscribe();
            // The follower removes its entry under the same lock, so it sees this subscription.
            Some((log, ear))
        };
        if let Some(known) = known() {
            return Ok(known);
        }
        let changes = hub.subscribe_changes();
        let open = load_open_waits(store, tenant, None).await?;
        let (log, ear, fresh) = {
            let mut followed = lock(&self.logs);
            match followed.get(tenant) {
                Some(log) => (Arc::clone(log), log.newest.subscribe(), false),
                None => {
                    let log = Arc::new(InboxLog::new());
                    let ear = log.newest.subscribe();
                    followed.insert(tenant.clone(), Arc::clone(&log));
                    (log, ear, true)
                }
            }
        };
        if fresh {
            let known = open.iter().map(wait_key).collect();
            let (inboxes, tenant) = (Arc::clone(self), tenant.clone());
            let following = InboxFollower {
                registry: inboxes,
                tenant,
                store: Arc::clone(store),
                log: Arc::clone(&log),
                known_waits: known,
            };
            tokio::spawn(following.run(changes));
        }
        Ok((log, ear))
    }
}

/// The task that follows one inbox.
struct InboxFollower {
    registry: Arc<InboxRegistry>,
    tenant: TenantId,
    store: Arc<dyn Store>,
    log: Arc<InboxLog>,
    known_waits: BTreeSet<(String, String)>,
}

impl InboxFollower {
    async fn run(mut self, mut changes: broadcast::Receiver<RunId>) {
        let mut pause = POLL_INTERVAL;
        let mut look_at = tokio::time::Instant::now() + pause;
        loop {
            let run = tokio::select! {
                heard = changes.recv() => match heard {
                    Ok(run) if run.tenant == self.tenant => Some(run.id),
                    Ok(_) => continue,
                    // Changes were missed, so poll the whole inbox.
                    Err(_) => None,
                },
                () = tokio::time::sleep_until(look_at) => None,
            };
            if self.stop_if_unused() {
                return;
            }
            let began = Instant::now();
            // If the store is unavailable, retry at the next poll and report nothing until then.
            if let Ok(open) = load_open_waits(&self.store, &self.tenant, run.as_deref()).await {
                self.record_changes(open, run.as_deref());
            }
            if run.is_none() {
                pause = POLL_INTERVAL.max(began.elapsed() * POLL_BACKOFF_FACTOR);
                look_at = tokio::time::Instant::now() + pause;
            }
        }
    }

    /// Removes the log if no client is subscribed. Returns whether the task should end.
    fn stop_if_unused(&self) -> bool {
        let mut followed = lock(&self.registry.logs);
        if self.log.newest.receiver_count() > 0 {
            return false;
        }
        followed.remove(&self.tenant);
        true
    }

    /// Records the differences between the known and the open waits, for one run or for all.
    fn record_changes(&mut self, open: Vec<WaitRow>, run: Option<&str>) {
        let now: BTreeSet<(String, String)> = open.iter().map(wait_key).collect();
        let of_run = |of: &str| run.is_none_or(|run| run == of);
        let gone: Vec<_> = self
            .known_waits
            .iter()
            .filter(|known| of_run(&known.0) && !now.contains(*known))
            .cloned()
            .collect();
        for (run, id) in gone {
            self.known_waits.remove(&(run.clone(), id.clone()));
            self.log.push_change(InboxChange::Closed { run, id });
        }
        for row in open {
            if self.known_waits.insert(wait_key(&row)) {
                self.log.push_change(InboxChange::Opened(row));
            }
        }
    }
}

fn wait_key(row: &WaitRow) -> (String, String) {
    (row.run.id.clone(), row.id.clone())
}

async fn load_open_waits(
    store: &Arc<dyn Store>,
    tenant: &TenantId,
    run: Option<&str>,
) -> Result<Vec<WaitRow>, StoreError> {
    let mut filter = WaitFilter::all(tenant.clone(), WAITS_PER_PAGE);
    filter.run = run.map(str::to_owned);
    let mut open = Vec::new();
    loop {
        let page = store.list_waits(&filter).await?;
        filter.after = page.last().map(WaitRow::to_cursor);
        let full = page.len() == WAITS_PER_PAGE;
        open.extend(page);
        if !full {
            return Ok(open);
        }
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under the lock is complete or absent, so the data is usable after a panic.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(number: usize) -> InboxChange {
        InboxChange::Closed { run: "r".to_owned(), id: format!("w{number}") }
    }

    #[test]
    fn whoever_comes_back_in_time_goes_on_and_whoever_is_late_begins_anew() {
        let log = InboxLog::new();
        assert_eq!(
            log.parse_event_id(&log.event_id(0)),
            Some(0),
            "nothing happened, and nothing was missed"
        );
        for number in 0..MAX_CHANGES + 5 {
            log.push_change(closed(number));
        }
        let newest = MAX_CHANGES as u64 + 5;
        assert_eq!(log.subscribe().0, newest);
        assert_eq!(log.parse_event_id(&log.event_id(newest)), Some(newest));
        assert_eq!(log.parse_event_id(&log.event_id(5)), Some(5));
        assert_eq!(log.parse_event_id(&log.event_id(4)), None, "what came then is gone");
        assert_eq!(log.parse_event_id(&log.event_id(newest + 1)), None, "that has not happened");
        assert_eq!(log.parse_event_id("other-7"), None);
        assert_eq!(log.parse_event_id("7"), None);
        let last = log.changes_after(newest - 1).unwrap();
        assert_eq!(last, [(newest, closed(MAX_CHANGES + 4))]);
        assert_eq!(log.changes_after(4), None);
    }
}
