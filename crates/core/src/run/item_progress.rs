//! A round: what a phase that does the same for each of several items has come to so far.
//!
//! It begins when the phase is entered, and says which items need not be begun again. What is under way
//! stands among the orders, not here.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The round of the phase a run stands in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ItemProgress {
    /// The keys of items whose child was asked for, or cannot be.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub begun: BTreeSet<String>,
    /// How many items the phase went on without.
    #[serde(default, skip_serializing_if = "is_none")]
    pub given_up: u64,
    /// Items that failed for good, and are tried again when somebody says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<FailedItem>,
}

/// An item that failed for good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedItem {
    /// It.
    pub item: Value,
    /// The key of its child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What happened, in a sentence.
    pub what: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl ItemProgress {
    /// Whether nothing is to be remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Somebody helped: what was lost may be begun again.
    pub(super) fn reset_failed(&mut self) {
        for lost in std::mem::take(&mut self.lost) {
            if let Some(key) = lost.key {
                self.begun.remove(&key);
            }
        }
    }
}
