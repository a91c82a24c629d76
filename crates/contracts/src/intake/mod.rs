//! The types of the intake interview: the document it keeps, and what the model answers at every
//! step.
//!
//! Not the interview itself: who may write what, when a question is a repeat and when the gate
//! opens are the protocol's and the engine's business.

pub mod state;
pub mod step;

pub use state::PreSkeletonState;
pub use step::LlmStepOutput;
