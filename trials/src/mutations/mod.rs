//! The mutation trial: valid replies, seeded corruptions and decoys whose truth is known.
//!
//! ```text
//! seed ─► generate ─► corrupt | decoy ─► Case ─► judge (every repair level, every peer) ─► tally ─► report
//! ```
//!
//! A case knows what its text means, so an acceptance is right or wrong beyond doubt. The rule where a corruption
//! happens to leave whole JSON behind: a text means what it says.
mod phrases;
mod generate;
mod text_pieces;
mod corrupt;
mod wrapping;
mod decoy;
mod case;
mod judge;
mod peers;
mod mutation_tally;
mod mutation_report;
mod mutation_trial;

pub(crate) use mutation_trial::{MutationTrialArgs, run};

#[cfg(test)]
mod tests;
