//! The kinds of sources that runs of this binary can query, and how it reads documents.

use std::sync::LazyLock;

use countersign_runtime::document::DocumentReader;
use countersign_sources::BuiltinSources;

use crate::settings::env_var;

/// The internal argument that makes this binary read one document and exit. It is not meant for
/// users.
pub(crate) const READ_DOCUMENT: &str = "read-document-from-stdin";

/// One reader for the whole process, so that everyone shares what it remembers.
static READER: LazyLock<DocumentReader> = LazyLock::new(|| {
    let this = std::env::current_exe().map(|path| path.display().to_string());
    let this = this.unwrap_or_else(|_| "countersign".to_owned());
    DocumentReader::from_program(vec![this, READ_DOCUMENT.to_owned()])
});

/// Returns the reader of documents. This binary reads them in a separate process, which may crash
/// without harm.
pub(crate) fn get_document_reader() -> DocumentReader {
    READER.clone()
}

/// Returns all built-in kinds.
pub(crate) fn build_source_kinds() -> BuiltinSources {
    BuiltinSources::new(get_document_reader(), Box::new(env_var))
}
