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
mod pieces;
mod corrupt;
mod around;
mod decoy;
mod case;
mod judge;
mod peers;
mod tally;
mod report;
mod trial;

pub(crate) use trial::{Settings, run};

#[cfg(test)]
mod tests;
