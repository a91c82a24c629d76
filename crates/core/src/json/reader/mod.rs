//! Reads JSON text once, from left to right, and tells everything it noticed.

mod read;
mod locator;
mod literal;
mod string;

pub use read::{
    Flaw, FlawKind, Reading, Stop, StopKind, locate, pass_space, read, read_prefix, read_spans,
};

#[cfg(test)]
mod tests;
