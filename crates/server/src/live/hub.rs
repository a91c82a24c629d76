//! Who watches which run. A run that nobody watches costs nothing but the reply that is being written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::run::State;
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
    /// The newest version that was heard of here; a store may have a newer one.
    pub version: u64,
    /// The order that is written for.
    order: String,
}

impl Glimpse {
    /// Whether a version is news.
    fn heard_of(&mut self, version: u64) -> bool {
        let newer = self.version < version;
        if newer {
            (self.version, self.changes) = (version, self.changes + 1);
        }
        newer
    }

    /// Nothing is being written.
    fn end(&mut self) {
        self.written.clear();
        self.order.clear();
    }
}

type Runs = HashMap<RunId, watch::Sender<Glimpse>>;

/// A run that nobody watches is known only while a model writes for it.
fn forget_if_idle(runs: &mut Runs, run: &RunId) {
    let idle =
        |one: &watch::Sender<Glimpse>| one.receiver_count() == 0 && one.borrow().order.is_empty();
    if runs.get(run).is_some_and(idle) {
        runs.remove(run);
    }
}

/// Tells whoever watches.
#[derive(Debug)]
pub struct Hub {
    runs: Mutex<Runs>,
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
        // Another receiver in the place of ours, so that those that are left can be counted.
        self.glimpses = watch::Sender::new(Glimpse::default()).subscribe();
        forget_if_idle(&mut runs, &self.run);
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

    /// A run came to a version. Others may have been quicker to tell of it; what is written for an order that is
    /// still out stays.
    pub(super) fn committed(&self, run: &RunId, state: &State) {
        let mut runs = self.lock();
        if let Some(sender) = runs.get(run) {
            sender.send_if_modified(|glimpse| {
                let newer = glimpse.heard_of(state.version);
                if newer && !state.pending.contains_key(&glimpse.order) {
                    glimpse.end();
                }
                newer
            });
            forget_if_idle(&mut runs, run);
        }
        drop(runs);
        // Nobody listening is no fault.
        drop(self.changed.send(run.clone()));
    }

    /// A model wrote more for an order of a run at a version.
    pub(super) fn writing(&self, run: &RunId, version: u64, order: &str, text: &str) {
        let mut runs = self.lock();
        let sender =
            runs.entry(run.clone()).or_insert_with(|| watch::Sender::new(Glimpse::default()));
        sender.send_if_modified(|glimpse| {
            glimpse.heard_of(version);
            if glimpse.order != order {
                if version < glimpse.version {
                    // The order is over, and the model does not know it yet.
                    return false;
                }
                glimpse.end();
                order.clone_into(&mut glimpse.order);
            }
            if glimpse.written.len() + text.len() <= MOST_WRITTEN {
                glimpse.written.push_str(text);
            }
            true
        });
    }

    /// A model writes no more for an order.
    pub(super) fn wrote(&self, run: &RunId, order: &str) {
        let mut runs = self.lock();
        if let Some(sender) = runs.get(run) {
            sender.send_if_modified(|glimpse| {
                let ours = glimpse.order == order;
                if ours {
                    // Should it begin again, it begins at the beginning.
                    glimpse.changes += 1;
                    glimpse.end();
                }
                ours
            });
            forget_if_idle(&mut runs, run);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        // What is behind it is put in whole or not at all, so a panic elsewhere leaves it usable.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::run::Pending;

    use super::*;

    /// A run at a version, with these orders out.
    fn at(version: u64, orders: &[&str]) -> State {
        let model = |order: &&str| ((*order).to_owned(), Pending::Model { not_before: None });
        State { version, pending: orders.iter().map(model).collect(), ..State::blank("r") }
    }

    fn hub() -> (Arc<Hub>, RunId) {
        (Arc::new(Hub::default()), RunId::local("r"))
    }

    #[test]
    fn whoever_comes_late_sees_what_was_written_and_its_end() {
        let (hub, run) = hub();
        hub.writing(&run, 1, "1.1", "Once ");
        hub.writing(&run, 1, "1.1", "upon");
        let mut watched = hub.watch(&run);
        let before = watched.glimpse();
        assert_eq!(before.written, "Once upon");
        hub.committed(&run, &at(2, &["2.1"]));
        let after = watched.glimpse();
        assert_eq!((after.changes, after.written), (before.changes + 1, String::new()));
    }

    #[test]
    fn a_model_may_write_before_its_version_is_told() {
        let (hub, run) = hub();
        let mut watched = hub.watch(&run);
        hub.writing(&run, 1, "1.1", "Once ");
        let before = watched.glimpse();
        hub.committed(&run, &at(1, &["1.1"]));
        assert_eq!(watched.glimpse(), before, "that is known, and nothing is sent again");
        hub.writing(&run, 2, "2.1", "upon");
        let glimpse = watched.glimpse();
        assert_eq!((&*glimpse.written, glimpse.version), ("upon", 2));
        drop(watched);
        hub.committed(&run, &at(2, &["2.1"]));
        assert_eq!(hub.watch(&run).glimpse().written, "upon");
        hub.committed(&run, &at(3, &[]));
        assert_eq!(hub.known(), 0);
    }

    #[test]
    fn a_version_that_leaves_the_order_out_leaves_its_text() {
        let (hub, run) = hub();
        let mut watched = hub.watch(&run);
        hub.writing(&run, 4, "4.1", "Once ");
        hub.committed(&run, &at(5, &["4.1"]));
        hub.writing(&run, 4, "4.1", "upon");
        assert_eq!(watched.glimpse().written, "Once upon");
    }

    #[test]
    fn a_model_that_does_not_know_that_it_is_over_writes_for_nobody() {
        let (hub, run) = hub();
        let mut watched = hub.watch(&run);
        hub.writing(&run, 4, "4.1", "Once ");
        hub.committed(&run, &at(5, &[]));
        hub.writing(&run, 4, "4.1", "upon");
        assert_eq!(watched.glimpse().written, "");
        drop(watched);
        hub.writing(&run, 4, "4.1", " a time");
        assert_eq!(hub.known(), 1);
        hub.wrote(&run, "4.1");
        assert_eq!(hub.known(), 0);
    }

    #[test]
    fn a_model_that_begins_again_begins_at_the_beginning() {
        let (hub, run) = hub();
        let mut watched = hub.watch(&run);
        hub.writing(&run, 1, "1.1", "Once ");
        let before = watched.glimpse();
        hub.wrote(&run, "1.1");
        hub.writing(&run, 1, "1.1", "Upon");
        let after = watched.glimpse();
        assert_eq!((&*after.written, after.changes), ("Upon", before.changes + 1));
    }

    #[test]
    fn a_run_that_nobody_watches_any_more_is_forgotten() {
        let (hub, run) = hub();
        let (first, mut second) = (hub.watch(&run), hub.watch(&run));
        drop(first);
        hub.committed(&run, &at(1, &[]));
        assert_eq!((second.glimpse().changes, hub.known()), (1, 1));
        drop(second);
        assert_eq!(hub.known(), 0);
    }

    #[test]
    fn what_is_being_written_is_kept_until_it_is_done() {
        let (hub, run) = hub();
        hub.writing(&run, 1, "1.1", "a");
        drop(hub.watch(&run));
        assert_eq!(hub.known(), 1);
        hub.committed(&run, &at(2, &[]));
        assert_eq!(hub.known(), 0);
    }
}
