//! A folder of documents as a source: Markdown, text and PDF files, with full-text search.

mod pdf;
mod pdf_reader;
mod document_folder;
mod split;
mod passage_index;
mod document_cache;
mod source;

pub use pdf::read_pdf_from_stdin;
pub use pdf_reader::PdfReader;
pub(crate) use source::DocumentSource;
