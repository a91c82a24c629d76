//! Natural-language text: words, numbers, similarity, slugs, and safe display.
//!
//! Expressions, full-text search and memory ranking all use this module, so that they agree on what
//! a word is in every script. The functions know nothing of documents, protocols or models. They
//! compare letters by fixed rules, with the same result on every machine; they do not interpret
//! meaning.

mod fold;
mod script;
mod words;
mod fingerprint;
mod stop_words;
mod question_kind;
mod identifiers;
mod compared_terms;
mod similarity;
mod numbers;
mod slug;
mod display;
mod confusable;
mod language;
#[cfg(test)]
mod similarity_pairs;
#[cfg(test)]
mod question_pairs;

pub use confusable::fold_confusables;
pub use display::{
    escape_for_display, escape_json_for_display, escape_line_for_display, is_hidden,
};
pub use fingerprint::compute_fingerprint;
pub use language::detect_language;
pub use numbers::extract_numbers;
pub use similarity::{SIMILARITY_THRESHOLD, measure_similarity};
pub use slug::slugify;
pub use words::{split_words, split_words_starting};
