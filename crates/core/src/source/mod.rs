//! The author's files: text with places, and faults that name them.
//!
//! Pure: a file comes in as text with a name, and whatever it refers to through a reader the
//! caller gives.

mod source_file;
mod diagnostic;
mod diagnostic_collector;
mod parsed_source_file;
mod yaml;

pub use diagnostic::{Diagnostic, DiagnosticSeverity};
pub use diagnostic_collector::DiagnosticCollector;
pub use parsed_source_file::ParsedSourceFile;
pub use source_file::{LineColumn, SourceFile};
