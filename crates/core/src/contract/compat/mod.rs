//! Two versions of a contract side by side: does one take what the other took, and what changed.
//!
//! ```text
//! schemas ── algebra ──► contained, or a difference ──┐
//! rules, defaults, intake ──► doubts                  ├──► Yes │ No with a witness │ Unknown with a reason
//! samples, edges ──► put to both contracts ───────────┘
//! ```
//!
//! A witness has always been put to both contracts; a proof never overrules it. Where nothing was
//! proven and no witness was found the answer is Unknown, never Yes.

mod comparison;
mod compare_contracts;
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
pub use contract_change::{ContractChange, ContractChangeKind};

pub(super) use disjoint::{OneOfBranches, are_mutually_exclusive};
