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

mod error;
mod told;
mod lived;
mod working;
mod beginning;
mod body;
mod catch_up;
mod follow;
mod packet;
mod remind;
mod summary;

pub use beginning::Beginning;
pub use body::Recall;
pub use catch_up::{CatchUpStep, catch_up, catch_up_next};
pub use error::RecallError;
pub use follow::follow;
pub use lived::{Version, lived};
pub use packet::policy_of;
pub use remind::{Reminded, remind};
pub(crate) use remind::{linked, rested};
pub use working::working;
