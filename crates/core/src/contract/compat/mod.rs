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

mod answer;
mod compare;
mod alternatives;
mod algebra;
mod disjoint;
mod defaults;
mod witness;
mod carriage;
mod change;
mod schema_changes;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Comparison};
pub use change::{Change, ChangeKind};
pub use compare::{compare, compare_with, compare_within};

pub(super) use disjoint::{Branches, exclude_each_other};
