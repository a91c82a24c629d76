//! Memory and runs: what a run lived through is remembered, and a model that is asked is reminded.
//!
//! ```text
//! log ──► lived: events of memory ──► catch_up ──► Memory
//! document ──► working state ──────► follow ────► Memory
//! prompt, Memory ──► compose, render ──► remind ──► prompt with `## Memory`, build `RUN/ACTION`
//! ```
//!
//! The log is the truth, and memory follows: what is remembered is named by run and version, so that
//! reading a log twice writes once. Memory that is away is told and holds nothing up. *Not here*: how
//! memory is kept, ranked and composed.

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
