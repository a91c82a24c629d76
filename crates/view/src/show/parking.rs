//! Describes why no worker takes a run that is due: too many workers died while working on it.

use countersign_run::Timestamp;
use countersign_store::{MAX_WORKER_DEATHS, RunHead};

/// Describes why the run is parked; `None` if it is not.
#[must_use]
pub fn describe_parking(head: &RunHead, now: Timestamp) -> Option<String> {
    let (run, version) = (&head.run.id, head.version);
    head.is_parked(now.0).then(|| {
        format!(
            "parked: {MAX_WORKER_DEATHS} workers ended while working on it at version {version}; resume with `countersign resume {run}`"
        )
    })
}
