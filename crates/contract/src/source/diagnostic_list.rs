//! Diagnostics as one error, for callers that return errors with `?`.

use std::fmt;

use super::Diagnostic;

/// Every problem of a file or a folder, as one error. Its text has one line per problem.
///
/// ```
/// use countersign_contract::contract::{Contract, load_inline_contract};
/// use countersign_contract::source::DiagnosticList;
///
/// fn load(text: &str) -> Result<Contract, DiagnosticList> {
///     Ok(load_inline_contract(text)?)
/// }
///
/// let error = load("id: note\nversion: 1.0.0").unwrap_err();
/// assert!(error.to_string().starts_with("<inline>:1:1: "));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagnosticList(pub Vec<Diagnostic>);

impl fmt::Display for DiagnosticList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for DiagnosticList {}

impl From<Vec<Diagnostic>> for DiagnosticList {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self(diagnostics)
    }
}
