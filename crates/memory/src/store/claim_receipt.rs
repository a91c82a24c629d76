//! The receipt of a stored claim.

use crate::rules::ClaimOutcome;

/// The result of a claim that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimReceipt {
    /// The id of the stored row: the claim's own, or that of the fact it supports.
    pub id: String,
    /// The revision of the stored row.
    pub revision: u32,
    /// The effect on the existing rows.
    pub outcome: ClaimOutcome,
}
