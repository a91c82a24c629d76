//! Composing: rows that may be seen, a request and a policy become a packet. Pure.
//!
//! ```text
//! filter    who may see it, does it hold, is it in the window        one file a kind
//! activate  cues that it answers                                     cues
//! order     score, time, id; caps; duplicates                        one file a kind
//! budget    shares by purpose; what is complete passes the rest on   budget
//! fill      whole, then short, then references                       fill
//! account   citations, degradations, omissions, explanation          citations, ledger, explain
//! ```
//!
//! A larger budget never loses an item: each share of a section takes the longest beginning of the
//! ranked list that fits, so its end only ever moves forward.

mod compose_error;
mod timestamp;
mod normalize;
mod shorten;
mod cues;
mod proximity_matcher;
mod insight_guard;
mod selection_log;
mod evidence_index;
mod context;
mod fill;
mod budget;
mod fact_candidates;
mod procedure_candidates;
mod episode_candidates;
mod quote_candidates;
mod message_candidates;
mod fit_summary;
mod insight_candidates;
mod state_part_candidates;
mod sections;
mod explain;
mod packet;

pub use compose_error::ComposeError;
pub use explain::SELECTION_VERSION;
pub(crate) use insight_guard::{contains_insight_words, normalize_insight, repeats_insight};
pub(crate) use normalize::normalize_text;
pub use packet::compose_packet;
pub(crate) use shorten::shorten_chars;
