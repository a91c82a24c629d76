//! A folder of documents as a source: Markdown, text, PDF, Office files, web
//! pages and mails, with full-text search.

mod document_folder;
mod split;
mod passage_index;
mod document_cache;
mod source;

pub(crate) use source::DocumentSource;
