//! Why nobody works on a run that is due: too many workers ended on it.

use countersign_core::run::Time;
use countersign_store::{Head, MAX_WORKER_DEATHS};

/// The sentence for a run that is parked; `None` where it is not.
#[must_use]
pub fn describe_parking(head: &Head, now: Time) -> Option<String> {
    let (run, version) = (&head.run.id, head.version);
    head.is_parked(now.0).then(|| {
        format!(
            "parked: {MAX_WORKER_DEATHS} workers ended while working on it at version {version}; resume with `countersign resume {run}`"
        )
    })
}
