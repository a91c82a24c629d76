//! Ranking: finds the events that match a request by their words and, if available, by vectors.
//!
//! ```text
//! MemoryEvent ──► analyze_event: its terms ──► Posting ──► encode_block ──► stored blocks
//! PacketRequest ──► WeightedQuery ──► plan_reads: which postings to read, up to a limit
//!         ──► rank_hits: BM25, neighbours, session ──► RankedHit, best first
//!         ──► refine_score with the event: speaker, question, best piece ──► RelevanceScore
//! vectors ──► SimilarEvents ──► ScoreBlend ──► RelevanceScore
//! ```
//!
//! All functions depend on their arguments only and use integers, so results are the same on every
//! machine. This module does not read or store anything and knows nothing of visibility or budgets.

mod posting;
mod function_words;
mod irregular;
mod message_pieces;
mod standing_wish;
mod terms;
mod term_matcher;
mod dates;
mod word_classes;
mod asked_reply;
mod query;
mod plan;
mod bm25;
mod sessions;
mod neighbour_boost;
mod top_hits;
mod hits;
mod piece_scorer;
mod refine;
mod score_blend;

pub use hits::{IndexStats, RankedHit, TermPostings, rank_hits};
pub use message_pieces::{excerpt_piece, split_into_pieces};
pub use piece_scorer::PieceScorer;
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
