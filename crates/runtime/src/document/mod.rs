//! Documents: their text, read in a process of its own, and the part of it that a reader asks for.

mod document_reader;
mod document_window;
mod text_cache;

pub use document_reader::DocumentReader;
pub(crate) use document_window::{DocumentWindow, ReadArguments, label_part, select_window};
