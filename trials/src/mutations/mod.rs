//! The mutation trial: valid replies with seeded corruptions and decoys, whose meaning is known.
//!
//! ```text
//! seed ─► generate ─► corrupt | decoy ─► MutationCase ─► judge (every repair level, every peer)
//!                                                        ─► tally ─► report
//! ```
//!
//! A case knows the meaning of its text, so an acceptance is either right or wrong. If a corruption
//! happens to leave well-formed JSON, the text means what that JSON says.
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
