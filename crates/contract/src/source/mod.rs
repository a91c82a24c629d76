//! Author-written files: parsing with source positions, and diagnostics that point into the text.
//!
//! The module does no I/O: the caller passes each file as text with a name, and resolves references
//! to other files through a reader.

mod source_file;
mod diagnostic;
mod diagnostic_collector;
mod diagnostic_list;
mod parsed_source_file;
mod yaml;

pub use diagnostic::{Diagnostic, DiagnosticSeverity};
pub use diagnostic_collector::DiagnosticCollector;
pub use diagnostic_list::DiagnosticList;
pub use parsed_source_file::ParsedSourceFile;
pub use source_file::{LineColumn, SourceFile};
