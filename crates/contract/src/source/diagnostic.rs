//! Diagnostics: problems in an author's file, with a code, a position and a hint.

use std::fmt;
use std::sync::Arc;

use super::{LineColumn, SourceFile};
use crate::json::TextSpan;

/// One problem in an author's file. It carries the file's text, so that any caller can display it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error code; a page under `docs/errors/` explains it.
    pub code: String,
    /// Description of the problem in one sentence.
    pub message: String,
    /// File that contains the problem.
    pub source: Arc<SourceFile>,
    /// Byte range of the problem in the file.
    pub span: TextSpan,
    /// Suggested fix, if one is known.
    pub hint: Option<String>,
    /// Whether the file can still be used.
    pub severity: DiagnosticSeverity,
}

/// Severity of a diagnostic. Errors sort before warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiagnosticSeverity {
    /// The file cannot be used.
    Error,
    /// The file can be used, but it probably does not do what the author intended.
    Warning,
}

impl DiagnosticSeverity {
    /// Returns the lower-case name that messages and JSON output use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl Diagnostic {
    /// Creates an error without a hint.
    pub fn new(
        code: impl Into<String>,
        message: impl Into<String>,
        source: &Arc<SourceFile>,
        span: TextSpan,
    ) -> Self {
        let (code, message) = (code.into(), message.into());
        let (source, severity) = (Arc::clone(source), DiagnosticSeverity::Error);
        Self { code, message, source, span, hint: None, severity }
    }

    /// Changes the severity to [`DiagnosticSeverity::Warning`].
    #[must_use]
    pub fn into_warning(mut self) -> Self {
        self.severity = DiagnosticSeverity::Warning;
        self
    }

    /// Sets the hint, or removes it if `hint` is `None`.
    #[must_use]
    pub fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// Returns the line and column where the span starts.
    #[must_use]
    pub fn line_column(&self) -> LineColumn {
        self.source.line_column_at(self.span.start)
    }
}

/// Formats the diagnostic on one line: `file:line:column: message [code]`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LineColumn { line, column } = self.line_column();
        write!(f, "{}:{line}:{column}: {} [{}]", self.source.name, self.message, self.code)
    }
}

impl std::error::Error for Diagnostic {}
