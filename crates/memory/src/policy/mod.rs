//! Policies: how many of what, for whom, how old, and in which share of the budget.

mod definition;
mod limits;
mod load;
mod matrix;
mod similarity;

pub use definition::{Dates, EvidenceMarks, Policy, RenderOptions};
pub use limits::{Activation, Ageing, CandidateCaps, Caps, Tiers};
pub use load::{LEAST_BUDGET, PolicyError};
pub use matrix::{Matrix, MatrixRow, Strength, Strengths};
pub use similarity::Similarity;
