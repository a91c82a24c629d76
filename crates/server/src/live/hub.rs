//! Who watches which run. A run that nobody watches costs nothing but the reply that is being written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_store::RunId;
use tokio::sync::{broadcast, watch};

/// How many changes a slow listener may be behind before it is told to look at everything.
const BEHIND: usize = 1_024;

/// How much of a reply is kept for whoever comes while it is written.
const MOST_WRITTEN: usize = 1 << 20;

/// What can be seen of a run in passing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Glimpse {
    /// How often it changed since somebody looked first.
    pub changes: u64,
    /// What a model has written of the reply that is on its way.
    pub written: String,
    /// The version that it is written for; the next one ends it.
    written_for: u64,
}

/// Tells whoever watches.
#[derive(Debug)]
pub struct Hub {
    runs: Mutex<HashMap<RunId, watch::Sender<Glimpse>>>,
    changed: broadcast::Sender<RunId>,
}

impl Default for Hub {
    fn default() -> Self {
        Self { runs: Mutex::default(), changed: broadcast::Sender::new(BEHIND) }
    }
}

/// Watches one run. When the last one that does goes, the run is known no more.
#[derive(Debug)]
pub struct Watched {
    hub: Arc<Hub>,
    run: RunId,
    glimpses: watch::Receiver<Glimpse>,
}

impl Watched {
    /// What there is to see now.
    pub fn glimpse(&mut self) -> Glimpse {
        self.glimpses.borrow_and_update().clone()
    }

    /// Until there is something else to see.
    pub async fn changed(&mut self) {
        if self.glimpses.changed().await.is_err() {
            // A hub forgets no run that is watched; without one, nothing will be seen.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut runs = self.hub.lock();
        let Some(sender) = runs.get(&self.run) else { return };
        let written = !sender.borrow().written.is_empty();
        // Another receiver in the place of ours, so that those that are left can be counted.
        self.glimpses = watch::Sender::new(Glimpse::default()).subscribe();
        if sender.receiver_count() == 0 && !written {
            runs.remove(&self.run);
        }
    }
}

impl Hub {
    /// Watches one run.
    #[must_use]
    pub fn watch(self: &Arc<Self>, run: &RunId) -> Watched {
        let mut runs = self.lock();
        let sender =
            runs.entry(run.clone()).or_insert_with(|| watch::Sender::new(Glimpse::default()));
        let glimpses = sender.subscribe();
        drop(runs);
        Watched { hub: Arc::clone(self), run: run.clone(), glimpses }
    }

    /// Listens for runs that change, of every tenant.
    #[must_use]
    pub fn changes(&self) -> broadcast::Receiver<RunId> {
        self.changed.subscribe()
    }

    /// How many runs are known: watched, or written for.
    #[must_use]
    pub fn known(&self) -> usize {
        self.lock().len()
    }

    /// A run came to a version. A driver may be ahead of whoever tells so: what is written for this version stays.
    pub(super) fn committed(&self, run: &RunId, version: u64) {
        let mut runs = self.lock();
        if let Some(sender) = runs.get(run) {
            sender.send_modify(|glimpse| {
                glimpse.changes += 1;
                if glimpse.written_for < version {
                    glimpse.written.clear();
                }
            });
            if sender.receiver_count() == 0 && sender.borrow().written.is_empty() {
                runs.remove(run);
            }
        }
        drop(runs);
        // Nobody listening is no fault.
        drop(self.changed.send(run.clone()));
    }

    /// A model wrote more for a run at a version.
    pub(super) fn writing(&self, run: &RunId, version: u64, text: &str) {
        let mut runs = self.lock();
        let sender =
            runs.entry(run.clone()).or_insert_with(|| watch::Sender::new(Glimpse::default()));
        sender.send_modify(|glimpse| {
            if glimpse.written_for < version {
                // Nobody told of this version yet, but here it is.
                glimpse.changes += 1;
                glimpse.written.clear();
                glimpse.written_for = version;
            }
            if glimpse.written.len() + text.len() <= MOST_WRITTEN {
                glimpse.written.push_str(text);
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, watch::Sender<Glimpse>>> {
        // What is behind it is put in whole or not at all, so a panic elsewhere leaves it usable.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_late_sees_what_was_written_and_a_change_ends_it() {
        let (hub, run) = (Arc::new(Hub::default()), RunId::local("r"));
        hub.writing(&run, 1, "Once ");
        hub.writing(&run, 1, "upon");
        let mut watched = hub.watch(&run);
        let before = watched.glimpse();
        assert_eq!(before.written, "Once upon");
        hub.committed(&run, 2);
        let after = watched.glimpse();
        assert_eq!((after.changes, after.written), (before.changes + 1, String::new()));
    }

    #[test]
    fn a_model_may_write_before_its_version_is_told() {
        let (hub, run) = (Arc::new(Hub::default()), RunId::local("r"));
        let mut watched = hub.watch(&run);
        hub.writing(&run, 1, "Once ");
        hub.committed(&run, 1);
        assert_eq!(watched.glimpse().written, "Once ");
        hub.writing(&run, 2, "upon");
        let glimpse = watched.glimpse();
        assert_eq!((glimpse.written.as_str(), glimpse.changes), ("upon", 3));
        drop(watched);
        hub.committed(&run, 2);
        assert_eq!(hub.watch(&run).glimpse().written, "upon");
        hub.committed(&run, 3);
        assert_eq!(hub.known(), 0);
    }

    #[test]
    fn a_run_that_nobody_watches_any_more_is_forgotten() {
        let (hub, run) = (Arc::new(Hub::default()), RunId::local("r"));
        let (first, mut second) = (hub.watch(&run), hub.watch(&run));
        drop(first);
        hub.committed(&run, 1);
        assert_eq!((second.glimpse().changes, hub.known()), (1, 1));
        drop(second);
        assert_eq!(hub.known(), 0);
    }

    #[test]
    fn what_is_being_written_is_kept_until_the_run_changes() {
        let (hub, run) = (Arc::new(Hub::default()), RunId::local("r"));
        hub.writing(&run, 1, "a");
        drop(hub.watch(&run));
        assert_eq!(hub.known(), 1);
        hub.committed(&run, 2);
        assert_eq!(hub.known(), 0);
    }
}
