//! The kinds of sources that runs of this binary can query.

use countersign_sources::{BuiltinSources, PdfReader};

use crate::settings::env_var;

/// The internal argument that makes this binary read one PDF and exit. It is not meant for users.
pub(crate) const READ_PDF: &str = "read-pdf-from-stdin";

/// Returns all built-in kinds. This binary reads PDF files in a separate process, which may crash
/// without harm.
pub(crate) fn build_source_kinds() -> BuiltinSources {
    let this = std::env::current_exe().map(|path| path.display().to_string());
    let this = this.unwrap_or_else(|_| "countersign".to_owned());
    BuiltinSources::new(PdfReader::Program(vec![this, READ_PDF.to_owned()]), Box::new(env_var))
}
