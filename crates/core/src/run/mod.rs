//! Runs: what an input means for a run, and what a run is after its events.
//!
//! Pure: no clock, no chance, no IO. Time and fresh ids come in with the input.

mod order;

pub use order::{Effect, ToolCall};
