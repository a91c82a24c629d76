//! The two ways an expression says no: when it is loaded, and when it runs.

use std::ops::Range;

/// Why a text is not an expression; found when the protocol is loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// What was found and what was expected.
    pub message: String,
    /// Where in the source, in bytes.
    pub span: Range<usize>,
    /// What to write instead, where we can tell.
    pub hint: Option<String>,
}

/// Why an expression has no value over these roots; found when it runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// What went wrong; it names paths and kinds of value, never the text of the state.
    pub message: String,
    /// Where in the source, in bytes.
    pub span: Range<usize>,
}

/// A run-time failure before anyone has said where it happened.
#[derive(Debug)]
pub(super) struct UnlocatedError(Box<str>);

impl UnlocatedError {
    pub(super) fn new(message: impl Into<Box<str>>) -> Self {
        Self(message.into())
    }

    pub(super) fn with_span(self, span: Range<usize>) -> BoxedEvalError {
        BoxedEvalError(Box::new(EvalError { message: self.0.into(), span }))
    }
}

/// An [`EvalError`] on its way up; boxed, so that the common case, a value, stays small.
#[derive(Debug)]
pub(super) struct BoxedEvalError(Box<EvalError>);

impl From<BoxedEvalError> for EvalError {
    fn from(failure: BoxedEvalError) -> Self {
        *failure.0
    }
}
