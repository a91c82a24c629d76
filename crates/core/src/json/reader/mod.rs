//! Reads JSON text once, from left to right, and tells everything it noticed.

mod read;
mod literal;
mod string;

pub use read::{
    Flaw, FlawKind, MAX_DEPTH, Reading, Stop, StopKind, pass_space, read, read_prefix, read_spans,
};

#[cfg(test)]
mod tests;
