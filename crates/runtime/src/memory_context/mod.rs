//! Memory outside of runs: storing what a client submits, and composing packets of what is known.
//! `memory_recorder` records runs.
//!
//! ```text
//! MemoryInput ──► MemoryWrite ──► ingest_items ──► IngestReport: saved, refused
//! events, a query ──► embedder ──► vectors, which are stored
//! ContextQuery ──► PacketRequest ──► compose_context ──► ComposedContext: packet, text, build
//! ```

mod parse_time;
mod derive_id;
mod memory_input;
mod input_author;
mod memory_write;
mod ingest;
mod memory_decision;
mod compose_context;
mod embed_events;

pub use compose_context::{
    ComposedContext, ContextError, ContextQuery, UnknownSection, compose_context,
    parse_section_budgets,
};
pub use derive_id::derive_id;
pub use embed_events::{EmbedError, add_vector, embed_all, try_add_vector};
pub use ingest::{IngestReport, IngestedItem, ingest_items};
pub use input_author::InputAuthor;
pub use memory_decision::{
    MemoryDecisionError, decide_insight, describe_claim_kind, find_candidate, find_insight,
    learn_from_insight, promote_candidate, refuse_candidate,
};
pub use memory_input::MemoryInput;
pub use memory_write::{MemoryWrite, to_memory_write};
pub use parse_time::parse_time;
