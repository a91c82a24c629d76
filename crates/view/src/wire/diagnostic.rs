//! Diagnostics of protocol and contract files, as the API sends them.

use countersign_contract::source::{Diagnostic, DiagnosticSeverity, LineColumn};
use serde::Serialize;
use utoipa::ToSchema;

/// A diagnostic about one location in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DiagnosticView {
    /// The code of the diagnostic; `docs/errors` has a page for each.
    #[schema(example = "unknown_phase")]
    pub code: String,
    /// The severity: `error` or `warning`.
    #[schema(example = "error")]
    pub severity: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The name of the file.
    pub file: String,
    /// The line number, starting at 1.
    pub line: usize,
    /// The column number, starting at 1.
    pub column: usize,
    /// What to do. Null if there is no suggestion.
    pub hint: Option<String>,
}

impl From<&Diagnostic> for DiagnosticView {
    fn from(diagnostic: &Diagnostic) -> Self {
        let LineColumn { line, column } = diagnostic.line_column();
        Self {
            code: diagnostic.code.clone(),
            severity: diagnostic.severity.as_str().to_owned(),
            message: diagnostic.message.clone(),
            file: diagnostic.source.name.clone(),
            line,
            column,
            hint: diagnostic.hint.clone(),
        }
    }
}

/// The findings of a check of a protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CheckReport {
    /// The folder or the name of the protocol that was checked.
    pub folder: String,
    /// The number of files in the protocol.
    pub files: usize,
    /// The number of errors.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The findings, errors first.
    pub diagnostics: Vec<DiagnosticView>,
}

impl CheckReport {
    /// Builds the report from diagnostics, and sorts errors first.
    #[must_use]
    pub fn from_diagnostics(folder: String, files: usize, mut found: Vec<Diagnostic>) -> Self {
        found.sort_by_key(|one| (one.severity, one.source.name.clone(), one.span.start));
        let errors = found.iter().filter(|one| one.severity == DiagnosticSeverity::Error).count();
        let warnings = found.len() - errors;
        let diagnostics = found.iter().map(DiagnosticView::from).collect();
        Self { folder, files, errors, warnings, diagnostics }
    }
}
