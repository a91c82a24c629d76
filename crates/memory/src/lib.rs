//! Memory for agents: stores what was said, done and learned by scope, and composes packets of it
//! that fit a token budget.
//!
//! ```text
//! events and rows ──► write ──► records and their index                record, store
//! PacketRequest ──► retrieve ──► Candidates: visible rows with scores  store, rank
//!         ──► compose: filter, sort, budget, degrade ──► MemoryPacket  compose    (pure)
//!         ──► render by purpose ──► prompt text                        render     (pure)
//!         ──► build: row references and a digest ──► replay            store, compose
//! events ──► a model under a contract ──► claim candidates             extraction (pure)
//! events ──► the relevant lines of a session ──► its summary           summarize  (pure)
//! exports of other memories ──► export lines ──► import               foreign    (pure)
//! ```
//!
//! Composing depends on its arguments only: it uses no clock and no random numbers, and the order
//! in which rows were inserted does not affect a packet. This crate does not handle runs, model
//! calls or the command line.

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
pub mod foreign;
pub mod extraction;
pub mod summarize;

pub use candidates::{Candidates, CitedEvent, ReadTruncation, RelevanceScore, ScoredRow};
pub use countersign_shipped_contracts::memory as packet;
pub use request::{BudgetOverride, PacketRequest};
pub use scope::{MemoryScope, MemoryScopeError, MemorySubject};
pub use vector::{EmbeddingVector, MAX_DIMENSIONS, VectorError};

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
