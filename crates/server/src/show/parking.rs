//! Why nobody works on a run that is due: too many workers ended on it.

use countersign_core::run::Timestamp;
use countersign_store::{MAX_WORKER_DEATHS, RunHead};

/// The sentence for a run that is parked; `Empty` where it is not.
#[must_use]
pub fn describe_parking(head: &RunHead, now: Timestamp) -> Option<String> {
    let (run, version) = (&head.run.id, head.version);
    head.is_parked(now.0).then(|| {
        format!(
            "parked: {MAX_WORKER_DEATHS} workers ended while working on it at version {version}; resume with `countersign resume {run}`"
        )
    })
}
