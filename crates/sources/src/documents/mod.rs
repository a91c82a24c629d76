//! A folder of documents as a source: Markdown, text and PDF, searched by their words.

mod pdf;
mod reader;
mod folder;
mod split;
mod index;
mod library;
mod source;

pub use pdf::read_pdf_from_stdin;
pub use reader::PdfReader;
pub(crate) use source::Documents;
