//! The types of the intake interview: the document it keeps, and what the model answers at every
//! step.
//!
//! Not the interview itself: who may write what, when a question is a repeat and when the gate
//! opens are the protocol's and the engine's business.

pub mod pre_skeleton_state;
pub mod llm_step_output;

pub use llm_step_output::LlmStepOutput;
pub use pre_skeleton_state::PreSkeletonState;
