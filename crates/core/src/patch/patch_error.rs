//! Why a patch was not applied.
//!
//! Not for malformed patches, nor for those that reach too far: these never come to be applied.

use thiserror::Error;

use super::value_difference::ValueDifference;
use super::{JsonPointer, PatchOperation};
use crate::json;
use crate::reply::{Code, Violation, format_value};

/// The operation that stopped a patch. The document is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatchError {
    /// An operation that cannot be done to this document.
    #[error("operation {index}: `{verb}` at `{pointer}`: expected {expected}, found {found}")]
    Inapplicable {
        /// Which operation, from 0.
        index: usize,
        /// What it wanted to do.
        verb: &'static str,
        /// `path` or `from`: which of its pointers leads nowhere.
        member: &'static str,
        /// That pointer.
        pointer: JsonPointer,
        /// What should have been there.
        expected: String,
        /// What was there.
        found: String,
    },
    /// A `test` of a value that is not there.
    #[error("operation {index}: `test` at `{pointer}` does not hold")]
    TestFailed {
        /// Which operation, from 0.
        index: usize,
        /// The first place that differs, in the document.
        pointer: String,
        /// What the patch says stands there, shortened.
        expected: String,
        /// What stands there, shortened.
        found: String,
    },
}

impl PatchError {
    /// Which operation, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        match self {
            Self::Inapplicable { index, .. } | Self::TestFailed { index, .. } => *index,
        }
    }
}

/// The pointer of the violation leads into the patch: `/2/path`.
impl From<PatchError> for Violation {
    fn from(error: PatchError) -> Self {
        match error {
            PatchError::Inapplicable { index, verb, member, pointer, expected, found } => {
                let at = format!("/{index}/{member}");
                let message = format!(
                    "{at}: cannot {verb} {}: expected {expected}, found {found}",
                    describe_pointer(pointer.as_str())
                );
                Self::new(Code::PatchFailed, at, expected, found).with_message(message)
            }
            PatchError::TestFailed { index, pointer, expected, found } => {
                let at = format!("/{index}/value");
                let place = describe_pointer(&pointer);
                let message =
                    format!("{at}: the test says {expected} for {place}, the document has {found}");
                Self::new(Code::TestFailed, at, expected, found).with_message(message)
            }
        }
    }
}

/// A place as a message names it.
pub(super) fn describe_pointer(pointer: &str) -> &str {
    if pointer.is_empty() { "the whole document" } else { pointer }
}

/// What stands in the way of an operation, before anyone has said which one it is.
#[derive(Debug)]
pub(super) struct PatchMismatch {
    pub(super) expected: String,
    pub(super) found: String,
}

impl PatchMismatch {
    pub(super) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { expected: expected.into(), found: found.into() }
    }
}

/// Why one operation stopped.
#[derive(Debug)]
pub(super) enum PatchOperationError {
    /// Its `path` leads nowhere.
    Path(PatchMismatch),
    /// Its `from` leads nowhere.
    From(PatchMismatch),
    /// Its test does not hold; the place is the one inside its `path`.
    Test { inside: String, obstacle: PatchMismatch },
}

impl PatchOperationError {
    /// The error, now that the operation is known.
    pub(super) fn into_patch_error(self, index: usize, op: &PatchOperation) -> PatchError {
        let (member, pointer, PatchMismatch { expected, found }) = match (self, op) {
            (Self::Test { inside, obstacle: PatchMismatch { expected, found } }, _) => {
                let pointer = format!("{}{inside}", op.path());
                return PatchError::TestFailed { index, pointer, expected, found };
            }
            (
                Self::From(obstacle),
                PatchOperation::Move { from, .. } | PatchOperation::Copy { from, .. },
            ) => ("from", from.clone(), obstacle),
            (Self::From(obstacle) | Self::Path(obstacle), _) => {
                ("path", op.path().clone(), obstacle)
            }
        };
        PatchError::Inapplicable { index, verb: op.verb(), member, pointer, expected, found }
    }
}

impl From<ValueDifference<'_>> for PatchOperationError {
    fn from(difference: ValueDifference<'_>) -> Self {
        let words = |value: Option<&_>| value.map_or_else(|| "nothing".to_owned(), format_value);
        let obstacle = PatchMismatch::new(words(difference.expected), words(difference.found));
        Self::Test { inside: difference.pointer, obstacle }
    }
}

/// The pointer of an operation's member, from the index of the operation.
pub(super) fn member_pointer(index: usize, name: &str) -> String {
    json::child_pointer(&format!("/{index}"), name)
}
