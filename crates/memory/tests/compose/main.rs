//! Composing and rendering, from rows to prompt text.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod budget;
mod laws;
mod quarantine;
mod rows;
mod rules;
mod store;
