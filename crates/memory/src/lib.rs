//! Memory: what was said, done and learned, kept by scope; and packets of it that fit a budget.
//!
//! ```text
//! remember ──► records, their index                                    record, store
//! Request ──► Found: rows that may be seen, with their scores          store, rank
//!         ──► compose: filter, order, budget, ladder ──► MemoryPacket  compose   (pure)
//!         ──► render by purpose ──► prompt text                        render    (pure)
//!         ──► build: inputs by reference, digest ──► replay            store, compose
//! events ──► a model under a contract ──► candidates, which rules rule on   learn     (pure)
//! events ──► the lines of a session that matter ──► its summary              summarize (pure)
//! ```
//!
//! Composing is a function of its arguments: no clock, no chance, no order of insertion shows in a
//! packet. *Not here*: runs, models, the command line.

pub mod record;
mod scope;
mod request;
mod vector;
mod candidates;
pub mod rules;
pub mod rank;
pub mod policy;
pub mod tokens;
pub mod compose;
pub mod render;
pub mod store;
pub mod extraction;
pub mod summarize;

pub use candidates::{Candidates, CitedEvent, ReadTruncation, RelevanceScore, ScoredRow};
pub use countersign_contracts::memory as packet;
pub use request::{BudgetOverride, PacketRequest};
pub use scope::{MemoryScope, MemoryScopeError, MemorySubject};
pub use vector::{EmbeddingVector, MAX_DIMENSIONS, VectorError};
