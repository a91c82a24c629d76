//! The text of documents: PDF, Office files, HTML, mail, and plain text in any usual encoding.
//!
//! ```text
//! bytes ──► DocumentFormat::detect ──► one extractor ──► DocumentText: parts (pages, sheets, slides)
//! ```
//!
//! Documents are untrusted and behave much like programs: everything that could grow is limited,
//! and an error says what is wrong with the file. [`read_document_from_stdin`] is for a process of
//! its own, which may crash without harm. This crate does not open files, and does not judge what
//! the text says.

pub mod limits;
mod document_error;
mod document_format;
mod document_text;
mod extract_document;
mod plain_text;
mod html;
mod mail;
mod pdf;
mod pdf_text;
mod pdf_fonts;
mod office_archive;
mod office_xml;
mod docx;
mod docx_numbering;
mod pptx;
mod xlsx;
mod xlsx_formats;
mod reader_process;

pub use document_error::{DocumentError, DocumentErrorKind};
pub use document_format::DocumentFormat;
pub use document_text::{DocumentPart, DocumentPartKind, DocumentText};
pub use extract_document::extract_document;
pub use plain_text::decode_text;
pub use reader_process::{decode_answer, encode_request, read_document_from_stdin};

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
