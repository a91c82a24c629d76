//! Compares two versions of a contract: whether one accepts what the other accepts, and what
//! changed.
//!
//! ```text
//! schemas ── set algebra ──► contained, or a difference ──┐    Yes
//! rules, defaults, intake ──► doubts                      ├──► No, with a witness
//! samples, boundary values ──► tried on both contracts ───┘    Unknown, with a reason
//! ```
//!
//! Every witness has been tried on both contracts, and a witness overrules a proof. If nothing was
//! proven and no witness was found, the outcome is `Unknown`, never `Yes`.

mod comparison;
mod compare_contracts;
mod compat_claim;
mod contract_records;
mod count_alternatives;
mod schema_set;
mod disjoint;
mod default_rewriter;
mod witness_pool;
mod text_witness;
mod contract_change;
mod schema_diff;
#[cfg(test)]
mod tests;

pub use compare_contracts::{compare, compare_with, compare_within};
pub use comparison::{CompatOutcome, ContractComparison};
pub use compat_claim::{CompatClaimError, check_compat_claim};
pub use contract_change::{ContractChange, ContractChangeKind};
pub use contract_records::{ContractRecord, ContractRecordError, ContractRecords};

pub(super) use disjoint::{OneOfBranches, are_mutually_exclusive};
