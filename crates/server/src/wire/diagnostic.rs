//! Faults in authors' files, as they are sent.

use countersign_core::source::{Diagnostic, DiagnosticSeverity, LineColumn};
use serde::Serialize;
use utoipa::ToSchema;

/// One fault in an author's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DiagnosticView {
    /// What kind; `docs/errors` has a page for it.
    #[schema(example = "unknown_phase")]
    pub code: String,
    /// `error` or `warning`.
    #[schema(example = "error")]
    pub severity: String,
    /// The fault in a sentence.
    pub message: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What to do, where that is known.
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

/// Everything found in a protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CheckReport {
    /// The folder, or the name, that was looked at.
    pub folder: String,
    /// How many files it has.
    pub files: usize,
    /// How many findings are errors.
    pub errors: usize,
    /// How many are warnings.
    pub warnings: usize,
    /// What was found, errors first.
    pub findings: Vec<DiagnosticView>,
}

impl CheckReport {
    /// What was found in a folder, in order.
    #[must_use]
    pub fn from_diagnostics(folder: String, files: usize, mut found: Vec<Diagnostic>) -> Self {
        found.sort_by_key(|one| (one.severity, one.source.name.clone(), one.span.start));
        let errors = found.iter().filter(|one| one.severity == DiagnosticSeverity::Error).count();
        let warnings = found.len() - errors;
        let findings = found.iter().map(DiagnosticView::from).collect();
        Self { folder, files, errors, warnings, findings }
    }
}
