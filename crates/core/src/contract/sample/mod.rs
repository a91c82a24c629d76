//! Values made from a schema: samples by number, and the values at its edges.
//!
//! The same schema and number give the same value, on every machine. Whatever comes out has been
//! put to the schema itself; where nothing valid was found there is no value, never a wrong one.
//! Not a test library: the comparison of contracts looks here for values that prove a difference.

mod sampler;
mod make;
mod flat;
mod object;
mod merge;
mod number;
mod text;
mod pattern;
mod random;
#[cfg(test)]
mod tests;

pub use sampler::Sampler;

pub(super) use flat::standing_alone;
pub(super) use merge::merge;
pub(super) use pattern::Node as PatternNode;
