//! The kinds of sources that runs of this binary can ask.

use countersign_sources::{Kinds, PdfReader};

use crate::settings::env;

/// The argument that makes this binary read one PDF and do nothing else. No person types it.
pub(crate) const READ_PDF: &str = "read-pdf-from-stdin";

/// All of them. PDF files are read by this binary in a process of its own, which may break down.
pub(crate) fn kinds() -> Kinds {
    let this = std::env::current_exe().map(|path| path.display().to_string());
    let this = this.unwrap_or_else(|_| "countersign".to_owned());
    Kinds::new(PdfReader::Program(vec![this, READ_PDF.to_owned()]), Box::new(env))
}
