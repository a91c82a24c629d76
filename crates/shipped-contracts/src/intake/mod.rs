//! The types of the intake interview: its document, and the model's reply at every step.
//!
//! The protocol and the engine conduct the interview: they decide who may write which field, when a
//! question is a repeat, and when the gate opens.

pub mod pre_skeleton_state;
pub mod llm_step_output;

pub use llm_step_output::LlmStepOutput;
pub use pre_skeleton_state::PreSkeletonState;
