//! The one reader of natural language: what counts as a word, and when two texts say the same.
//!
//! Expressions, full-text search and the ranking of memories all ask here, so that they agree on what
//! a word is in every script. Nothing here knows a document, a protocol or a model, and nothing here
//! understands: it compares letters, by fixed rules, the same on every machine.

mod fold;
mod script;
mod words;
mod fingerprint;
mod fillers;
mod asks;
mod terms;
mod similarity;
mod numbers;
mod slug;
mod display;
mod confusable;
#[cfg(test)]
mod pairs;

pub use confusable::shape;
pub use display::{
    escape_for_display, escape_json_for_display, escape_line_for_display, is_hidden,
};
pub use fingerprint::fingerprint;
pub use numbers::numbers;
pub use similarity::{SAME, similarity};
pub use slug::slug;
pub use words::{words, words_beginning};
