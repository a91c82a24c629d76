//! Publishes changes of runs to subscribers. A run without subscribers takes no memory, except for
//! the reply that is being written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_run::RunState;
use countersign_store::RunId;
use tokio::sync::{broadcast, watch};

/// Number of changes that a slow subscriber may lag behind before it must reload everything.
const CHANGE_CHANNEL_CAPACITY: usize = 1_024;

/// Maximum number of bytes of a partial reply that are kept for late subscribers.
const MAX_PREVIEW_BYTES: usize = 1 << 20;

/// The live state of a run, as far as this process knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunPreview {
    /// Number of changes since the first subscription.
    pub changes: u64,
    /// The text that a model has written so far for the current reply.
    pub partial_reply: String,
    /// The newest version that this process has reported; the store may have a newer one.
    pub version: u64,
    /// The action that the model replies to; empty if no model is writing.
    action: String,
}

impl RunPreview {
    /// Records a version. Returns whether it is new.
    fn observe_version(&mut self, version: u64) -> bool {
        let newer = self.version < version;
        if newer {
            (self.version, self.changes) = (version, self.changes + 1);
        }
        newer
    }

    /// Clears the partial reply, because no model is writing.
    fn clear_output(&mut self) {
        self.partial_reply.clear();
        self.action.clear();
    }
}

type PreviewChannels = HashMap<RunId, watch::Sender<RunPreview>>;

/// Removes a run without subscribers, unless a model is writing for it.
fn forget_if_idle(runs: &mut PreviewChannels, run: &RunId) {
    let idle = |one: &watch::Sender<RunPreview>| {
        one.receiver_count() == 0 && one.borrow().action.is_empty()
    };
    if runs.get(run).is_some_and(idle) {
        runs.remove(run);
    }
}

/// Publishes changes of runs to their subscribers.
#[derive(Debug)]
pub struct RunHub {
    previews: Mutex<PreviewChannels>,
    commits: broadcast::Sender<RunId>,
}

impl Default for RunHub {
    fn default() -> Self {
        Self {
            previews: Mutex::default(),
            commits: broadcast::Sender::new(CHANGE_CHANNEL_CAPACITY),
        }
    }
}

/// A subscription to one run. When the last one is dropped, the hub forgets the run.
#[derive(Debug)]
pub struct RunSubscription {
    hub: Arc<RunHub>,
    run: RunId,
    receiver: watch::Receiver<RunPreview>,
}

impl RunSubscription {
    /// Returns the current live state.
    pub fn preview(&mut self) -> RunPreview {
        self.receiver.borrow_and_update().clone()
    }

    /// Waits until the live state changes.
    pub async fn wait_for_change(&mut self) {
        if self.receiver.changed().await.is_err() {
            // The hub keeps every run that has subscribers. Without a hub, no change will ever
            // come.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for RunSubscription {
    fn drop(&mut self) {
        let mut runs = self.hub.lock();
        // Replaces the receiver, so that it no longer counts as a subscriber.
        self.receiver = watch::Sender::new(RunPreview::default()).subscribe();
        forget_if_idle(&mut runs, &self.run);
    }
}

impl RunHub {
    /// Subscribes to one run.
    #[must_use]
    pub fn subscribe(self: &Arc<Self>, run: &RunId) -> RunSubscription {
        let mut runs = self.lock();
        let sender =
            runs.entry(run.clone()).or_insert_with(|| watch::Sender::new(RunPreview::default()));
        let glimpses = sender.subscribe();
        drop(runs);
        RunSubscription { hub: Arc::clone(self), run: run.clone(), receiver: glimpses }
    }

    /// Subscribes to the changes of all runs of all tenants.
    #[must_use]
    pub fn subscribe_changes(&self) -> broadcast::Receiver<RunId> {
        self.commits.subscribe()
    }

    /// The number of runs in the hub: those with subscribers, and those that a model is writing
    /// for.
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.lock().len()
    }

    /// Publishes a new version of a run. It may already be known from another source. Keeps the
    /// partial reply if its action is still pending.
    pub(super) fn publish_commit(&self, run: &RunId, state: &RunState) {
        let mut runs = self.lock();
        if let Some(sender) = runs.get(run) {
            sender.send_if_modified(|glimpse| {
                let newer = glimpse.observe_version(state.version);
                if newer && !state.pending.contains_key(&glimpse.action) {
                    glimpse.clear_output();
                }
                newer
            });
            forget_if_idle(&mut runs, run);
        }
        drop(runs);
        // Having no subscribers is not an error.
        drop(self.commits.send(run.clone()));
    }

    /// Publishes text that a model wrote for an action of a run at a version.
    pub(super) fn publish_output(&self, run: &RunId, version: u64, order: &str, text: &str) {
        let mut runs = self.lock();
        let sender =
            runs.entry(run.clone()).or_insert_with(|| watch::Sender::new(RunPreview::default()));
        sender.send_if_modified(|glimpse| {
            glimpse.observe_version(version);
            if glimpse.action != order {
                if version < glimpse.version {
                    // The action is complete, and the model has not been stopped yet.
                    return false;
                }
                glimpse.clear_output();
                order.clone_into(&mut glimpse.action);
            }
            if glimpse.partial_reply.len() + text.len() <= MAX_PREVIEW_BYTES {
                glimpse.partial_reply.push_str(text);
            }
            true
        });
    }

    /// Publishes that a model has stopped writing for an action.
    pub(super) fn finish_output(&self, run: &RunId, order: &str) {
        let mut runs = self.lock();
        if let Some(sender) = runs.get(run) {
            sender.send_if_modified(|glimpse| {
                let ours = glimpse.action == order;
                if ours {
                    // If the model restarts, its reply starts from the beginning.
                    glimpse.changes += 1;
                    glimpse.clear_output();
                }
                ours
            });
            forget_if_idle(&mut runs, run);
        }
    }

    fn lock(&self) -> MutexGuard<'_, PreviewChannels> {
        // Every change under the lock is complete or absent, so the data is usable after a panic.
        self.previews.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use countersign_run::PendingAction;

    use super::*;

    /// A run at a version with these pending actions.
    fn at(version: u64, orders: &[&str]) -> RunState {
        let model = |order: &&str| ((*order).to_owned(), PendingAction::Model { not_before: None });
        RunState { version, pending: orders.iter().map(model).collect(), ..RunState::new("r") }
    }

    fn hub() -> (Arc<RunHub>, RunId) {
        (Arc::new(RunHub::default()), RunId::local("r"))
    }

    #[test]
    fn whoever_comes_late_sees_what_was_written_and_its_end() {
        let (hub, run) = hub();
        hub.publish_output(&run, 1, "1.1", "Once ");
        hub.publish_output(&run, 1, "1.1", "upon");
        let mut watched = hub.subscribe(&run);
        let before = watched.preview();
        assert_eq!(before.partial_reply, "Once upon");
        hub.publish_commit(&run, &at(2, &["2.1"]));
        let after = watched.preview();
        assert_eq!((after.changes, after.partial_reply), (before.changes + 1, String::new()));
    }

    #[test]
    fn a_model_may_write_before_its_version_is_told() {
        let (hub, run) = hub();
        let mut watched = hub.subscribe(&run);
        hub.publish_output(&run, 1, "1.1", "Once ");
        let before = watched.preview();
        hub.publish_commit(&run, &at(1, &["1.1"]));
        assert_eq!(watched.preview(), before, "that is known, and nothing is sent again");
        hub.publish_output(&run, 2, "2.1", "upon");
        let glimpse = watched.preview();
        assert_eq!((&*glimpse.partial_reply, glimpse.version), ("upon", 2));
        drop(watched);
        hub.publish_commit(&run, &at(2, &["2.1"]));
        assert_eq!(hub.subscribe(&run).preview().partial_reply, "upon");
        hub.publish_commit(&run, &at(3, &[]));
        assert_eq!(hub.run_count(), 0);
    }

    #[test]
    fn a_version_that_leaves_the_order_out_leaves_its_text() {
        let (hub, run) = hub();
        let mut watched = hub.subscribe(&run);
        hub.publish_output(&run, 4, "4.1", "Once ");
        hub.publish_commit(&run, &at(5, &["4.1"]));
        hub.publish_output(&run, 4, "4.1", "upon");
        assert_eq!(watched.preview().partial_reply, "Once upon");
    }

    #[test]
    fn a_model_that_does_not_know_that_it_is_over_writes_for_nobody() {
        let (hub, run) = hub();
        let mut watched = hub.subscribe(&run);
        hub.publish_output(&run, 4, "4.1", "Once ");
        hub.publish_commit(&run, &at(5, &[]));
        hub.publish_output(&run, 4, "4.1", "upon");
        assert_eq!(watched.preview().partial_reply, "");
        drop(watched);
        hub.publish_output(&run, 4, "4.1", " a time");
        assert_eq!(hub.run_count(), 1);
        hub.finish_output(&run, "4.1");
        assert_eq!(hub.run_count(), 0);
    }

    #[test]
    fn a_model_that_begins_again_begins_at_the_beginning() {
        let (hub, run) = hub();
        let mut watched = hub.subscribe(&run);
        hub.publish_output(&run, 1, "1.1", "Once ");
        let before = watched.preview();
        hub.finish_output(&run, "1.1");
        hub.publish_output(&run, 1, "1.1", "Upon");
        let after = watched.preview();
        assert_eq!((&*after.partial_reply, after.changes), ("Upon", before.changes + 1));
    }

    #[test]
    fn a_run_that_nobody_watches_any_more_is_forgotten() {
        let (hub, run) = hub();
        let (first, mut second) = (hub.subscribe(&run), hub.subscribe(&run));
        drop(first);
        hub.publish_commit(&run, &at(1, &[]));
        assert_eq!((second.preview().changes, hub.run_count()), (1, 1));
        drop(second);
        assert_eq!(hub.run_count(), 0);
    }

    #[test]
    fn what_is_being_written_is_kept_until_it_is_done() {
        let (hub, run) = hub();
        hub.publish_output(&run, 1, "1.1", "a");
        drop(hub.subscribe(&run));
        assert_eq!(hub.run_count(), 1);
        hub.publish_commit(&run, &at(2, &[]));
        assert_eq!(hub.run_count(), 0);
    }
}
