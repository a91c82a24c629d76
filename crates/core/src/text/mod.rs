//! The one reader of natural language: what counts as a word, and when two texts say the same.
//!
//! Expressions, full-text search and the ranking of memories all ask here, so that they agree on what
//! a word is in every script. Nothing here knows a document, a protocol or a model, and nothing here
//! understands: it compares letters, by fixed rules, the same on every machine.

mod fold;
mod script;
mod words;
mod fingerprint;
mod stop_words;
mod question_kind;
mod compared_terms;
mod similarity;
mod numbers;
mod slug;
mod display;
mod confusable;
#[cfg(test)]
mod similarity_pairs;

pub use confusable::to_confusable_skeleton;
pub use display::{
    escape_for_display, escape_json_for_display, escape_line_for_display, is_hidden,
};
pub use fingerprint::compute_fingerprint;
pub use numbers::extract_numbers;
pub use similarity::{SIMILARITY_THRESHOLD, measure_similarity};
pub use slug::slugify;
pub use words::{split_words, split_words_starting};
