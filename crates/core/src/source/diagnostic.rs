//! A fault in an author's file: what, where, and what to do.

use std::fmt;
use std::sync::Arc;

use super::{LineColumn, SourceFile};
use crate::json::TextSpan;

/// One fault. The text it stands in comes along, so that it can be shown anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of fault; a page under `docs/errors/` explains it.
    pub code: String,
    /// The fault in one sentence.
    pub message: String,
    /// The file.
    pub source: Arc<SourceFile>,
    /// The place in it.
    pub span: TextSpan,
    /// What to do, where that is known.
    pub hint: Option<String>,
    /// Whether the file can be used all the same.
    pub severity: DiagnosticSeverity,
}

/// How bad a fault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiagnosticSeverity {
    /// The file cannot be used.
    Error,
    /// The file can be used, and probably does not mean this.
    Warning,
}

impl DiagnosticSeverity {
    /// The word for people and programs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl Diagnostic {
    /// A fault at a place.
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

    /// The same as a warning.
    #[must_use]
    pub fn into_warning(mut self) -> Self {
        self.severity = DiagnosticSeverity::Warning;
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// Line and column of its beginning.
    #[must_use]
    pub fn line_column(&self) -> LineColumn {
        self.source.line_column_at(self.span.start)
    }
}

/// One line: `file:line:column: message [code]`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LineColumn { line, column } = self.line_column();
        write!(f, "{}:{line}:{column}: {} [{}]", self.source.name, self.message, self.code)
    }
}

impl std::error::Error for Diagnostic {}
