//! A worker: takes runs that are due, as many as it has hands, and drives each under its lease.
//!
//! ```text
//!          ┌── hint ── poll ── a run came to rest ──┐
//!          ▼                                        │
//!   take(due, in turn, within limits) ──► drive under a lease ──► rest (or lost, or given back)
//! ```
//!
//! Any number of them share a store and know nothing of each other. What decides is the store: a lease
//! that ran out is another's, and a commit under it is refused. Not here: how a run is worked on
//! (`driver`), and who is told what in which words (the caller, by [`Report`]).

mod terms;
mod news;
mod stop;
mod away;
mod crew;
mod body;

pub use body::{Ending, Worker};
pub use crew::Crew;
pub use news::{News, Report, Silent};
pub use stop::{Stop, Stopper};
pub use terms::Terms;
