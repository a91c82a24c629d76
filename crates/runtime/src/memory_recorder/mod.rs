//! Memory of runs: records what happens in a run, and adds memories to the prompts of models.
//!
//! ```text
//! log ──► extract_memory_events ──► catch_up ─────────────────► Memory
//! document ──► build_working_state ──► update_working_state ──► Memory
//! prompt, Memory ──► add_memory_to_prompt ──► prompt with `## Memory`, build `RUN/ACTION`
//! ```
//!
//! The log is the source of truth, and memory follows it: recorded events are named by run and
//! version, so that reading a log twice writes once. An unavailable memory causes a warning and
//! blocks nothing. *Not here*: how memory is stored, ranked and composed.

mod recorder_error;
mod format_text;
mod extract_events;
mod working_state;
mod run_memory_origin;
mod recorder;
mod catch_up;
mod update_working_state;
mod prompt_packet;
mod prompt_memory;
mod session_summary;

pub use catch_up::{CatchUpStep, catch_up, catch_up_next};
pub use extract_events::{RecordedVersion, extract_memory_events};
pub use prompt_memory::{PromptWithMemory, add_memory_to_prompt};
pub(crate) use prompt_memory::{link_build, record_idle_run};
pub use prompt_packet::load_memory_policy;
pub use recorder::MemoryRecorder;
pub use recorder_error::MemoryRecorderError;
pub use run_memory_origin::RunMemoryOrigin;
pub use update_working_state::update_working_state;
pub use working_state::build_working_state;
