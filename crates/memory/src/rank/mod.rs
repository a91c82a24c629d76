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
mod term_matcher;
mod dates;
mod word_classes;
mod query;
mod plan;
mod bm25;
mod sessions;
mod neighbour_boost;
mod top_hits;
mod hits;
mod refine;
mod score_blend;

pub use hits::{IndexStats, RankedHit, TermPostings, rank_hits};
pub use plan::{MAX_POSTINGS, PostingRead, plan_reads};
pub use posting::{
    BLOCK_CAPACITY, Posting, PostingBlockError, decode_block, encode_block, sort_postings,
};
pub use query::WeightedQuery;
pub use refine::{bound_score, refine_score};
pub(crate) use score_blend::ScoreBlend;
pub use score_blend::SimilarEvents;
pub(crate) use term_matcher::TermMatcher;
pub use terms::{IndexedEvent, TERM_ANALYZER, analyze_event, extract_terms};
