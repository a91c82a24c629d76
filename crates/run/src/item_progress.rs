//! Progress of a phase that repeats its work for each item: which items are started, skipped or
//! failed.
//!
//! It is reset when the phase is entered, and tells which items need not be started again. Items in
//! progress are among the pending actions, not here.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Progress of the current phase through its items.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ItemProgress {
    /// Keys of the items whose child run was requested or cannot be started.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub started: BTreeSet<String>,
    /// Number of failed items that the phase continued without.
    #[serde(default, skip_serializing_if = "is_none")]
    pub skipped: u64,
    /// Items that failed permanently and are retried when a person asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedItem>,
}

/// An item that failed permanently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedItem {
    /// The item's value.
    pub item: Value,
    /// Key of the item's child run; absent if the item has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What happened, in a sentence.
    pub message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl ItemProgress {
    /// Whether there is no progress to record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Allows the failed items to be started again, after a person has helped.
    pub(super) fn reset_failed(&mut self) {
        for lost in std::mem::take(&mut self.failed) {
            if let Some(key) = lost.key {
                self.started.remove(&key);
            }
        }
    }
}
