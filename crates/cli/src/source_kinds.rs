//! The kinds of sources that runs of this binary can ask.

use countersign_sources::{BuiltinSources, PdfReader};

use crate::settings::env_var;

/// The argument that makes this binary read one PDF and do nothing else. No person types it.
pub(crate) const READ_PDF: &str = "read-pdf-from-stdin";

/// All of them. PDF files are read by this binary in a process of its own, which may break down.
pub(crate) fn build_source_kinds() -> BuiltinSources {
    let this = std::env::current_exe().map(|path| path.display().to_string());
    let this = this.unwrap_or_else(|_| "countersign".to_owned());
    BuiltinSources::new(PdfReader::Program(vec![this, READ_PDF.to_owned()]), Box::new(env_var))
}
