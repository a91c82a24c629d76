//! Ranking: which events answer a question, by their words; and by vectors, where somebody made them.
//!
//! ```text
//! Event ──► indexed: its terms ──► Posting ──► encode_block ──► (the store keeps the blocks)
//! Request ──► Query: terms with weights ──► plan: which postings to read, at most so many
//!         ──► rank: BM25, neighbours, session ──► Hits, best first
//!         ──► refine with the event itself: who spoke, question or prose ──► Score
//! Vectors ──► Near: how similar ──► Blend ──► Score
//! ```
//!
//! Everything is a function of its arguments, in whole numbers: the same on every machine. *Not here*:
//! reading, keeping, visibility, budgets.

mod posting;
mod function_words;
mod irregular;
mod terms;
mod sought;
mod dates;
mod kinds;
mod query;
mod plan;
mod fixed;
mod sessions;
mod spread;
mod best;
mod hits;
mod refine;
mod blend;

pub(crate) use blend::Blend;
pub use blend::Near;
pub use hits::{Hit, Stats, TermPostings, rank};
pub use plan::{MOST_POSTINGS, Read, plan};
pub use posting::{BLOCK, BlockError, Posting, decode_block, encode_block, in_order};
pub use query::Query;
pub use refine::{at_most, refine};
pub(crate) use sought::Sought;
pub use terms::{ANALYSER, Indexed, indexed, terms};
