//! Analysis before anything runs: what a protocol that loads may still have got wrong.
//!
//! Pure, and careful: an error is told only where it is certain. Nothing here changes a protocol or
//! decides what a run does.

mod inspect;
mod finding;
mod effort;
mod view;
mod outcomes;
mod written;
mod whole;
mod opening;
mod gates;
mod ways;
mod loops;
mod overlap;
mod witness;
mod writers;
mod unwritten;
mod authority;
mod fields;
mod mismatch;
mod each;
mod waits;
mod budgets;
mod invoke;
mod tickets;
mod languages;
mod hidden;
mod inherited;
#[cfg(test)]
mod tests;

pub use inspect::{CODES, check};
