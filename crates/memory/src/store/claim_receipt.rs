//! What became of something that was to be remembered.

use crate::rules::ClaimOutcome;

/// What became of a claim that was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimReceipt {
    /// What carries it now: its own id, or that of the fact it supports.
    pub id: String,
    /// In which revision.
    pub revision: u32,
    /// What it did to what stood.
    pub outcome: ClaimOutcome,
}
