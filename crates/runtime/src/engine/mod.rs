//! The engine: loads a run, decides an input, keeps what came of it in one commit.
//!
//! ```text
//! give(run, what) ──► load ──► decide ──► append ──► Outcome
//!                      ▲                    │
//!                      └──── Conflict ──────┘   another writer was first: once more, from what is true now
//! ```
//!
//! Not here: doing what a run orders (`driver`).

mod error;
mod outcome;
mod pinned;
mod live;
pub(crate) mod rows;
mod run_name;
mod body;
mod give;
mod repeat;
mod begin;
mod fork;
mod look;
mod tally;

pub use body::{Engine, Opened};
pub use error::EngineError;
pub use fork::Otherwise;
pub(crate) use give::{Along, blank_input};
pub use live::Live;
pub use outcome::Outcome;
pub use pinned::Pinned;
pub use run_name::fresh_name;
