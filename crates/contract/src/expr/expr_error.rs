//! Expression errors: compile errors and evaluation errors.

use std::ops::Range;

/// Compile error: the text is not a valid expression. Reported when the protocol is loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// Description of what was found and what was expected.
    pub message: String,
    /// Byte range of the error in the source.
    pub span: Range<usize>,
    /// Suggested replacement, if one is known.
    pub hint: Option<String>,
}

/// Evaluation error: the expression has no value for these roots.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// Description of the error. It names paths and types of values, never the content of the
    /// state.
    pub message: String,
    /// Byte range in the source of the operation that failed.
    pub span: Range<usize>,
}

/// Evaluation error before its position in the source is known.
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

/// Boxed [`EvalError`], so that the result of a successful evaluation stays small.
#[derive(Debug)]
pub(super) struct BoxedEvalError(Box<EvalError>);

impl From<BoxedEvalError> for EvalError {
    fn from(failure: BoxedEvalError) -> Self {
        *failure.0
    }
}
