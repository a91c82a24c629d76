//! Composing: turns visible rows, a request and a policy into a packet. Pure.
//!
//! ```text
//! filter    visibility, validity, window                             one file per kind
//! activate  cues that the item matches                               cues
//! sort      score, time, id; caps; duplicates                        one file per kind
//! budget    shares by purpose; complete sections pass the rest on    budget
//! fill      full, then short, then references                        fill
//! report    citations, degradations, omissions                       evidence_index, selection_log
//! explain   filters, sort keys, versions                             explain
//! ```
//!
//! A larger budget never loses an item: each tier of a section takes the longest prefix of the
//! ranked list that fits, so its end only moves forward.

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
