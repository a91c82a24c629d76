//! The engine loads a run, decides an input, and stores the result in a single commit.
//!
//! ```text
//! submit_input(run, what) ──► load ──► decide ──► append ──► InputOutcome
//!                              ▲                    │
//!                              └──── Conflict ──────┘   another writer committed first: retry
//! ```
//!
//! The `driver` performs the actions of a run.

mod engine_error;
mod input_outcome;
mod pinned_protocol;
mod live_run;
pub(crate) mod commit_rows;
mod run_name;
mod engine;
mod submit_input;
mod submit_document;
mod search_terms;
mod repeated_input;
mod model_check;
mod start_run;
mod fork_run;
mod read_run;
mod run_metrics;

pub use engine::{Engine, EngineConfig};
pub use engine_error::EngineError;
pub use fork_run::ForkOptions;
pub use input_outcome::InputOutcome;
pub use live_run::LiveRun;
pub use model_check::ModelNameCheck;
pub use pinned_protocol::PinnedProtocol;
pub use run_name::generate_run_name;
pub(crate) use search_terms::collect_search_terms;
pub use search_terms::split_search_query;
pub use submit_document::{DocumentAnswer, DocumentAnswerError};
pub(crate) use submit_input::{InputOptions, new_input};
