//! Errors of applying a patch.
//!
//! Malformed patches and patches beyond their authority are refused earlier, before they are
//! applied.

use thiserror::Error;

use super::value_difference::ValueDifference;
use super::{JsonPointer, PatchOperation};
use crate::json;
use crate::reply::{Violation, ViolationCode, format_value};

/// The operation at which a patch failed. The document is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatchError {
    /// The operation cannot be applied to this document.
    #[error("operation {index}: `{verb}` at `{pointer}`: expected {expected}, found {found}")]
    Inapplicable {
        /// The index of the operation, counted from 0.
        index: usize,
        /// The `op` of the operation, such as `replace`.
        verb: &'static str,
        /// The member that holds the failing pointer: `path` or `from`.
        member: &'static str,
        /// The value of that member.
        pointer: JsonPointer,
        /// What the operation requires at that location.
        expected: String,
        /// What the document has at that location.
        found: String,
    },
    /// The value of a `test` differs from the document.
    #[error("operation {index}: `test` at `{pointer}` failed")]
    TestFailed {
        /// The index of the operation, counted from 0.
        index: usize,
        /// The first location in the document that differs.
        pointer: String,
        /// The value that the patch expects there, shortened.
        expected: String,
        /// The value that the document has there, shortened.
        found: String,
    },
}

impl PatchError {
    /// Returns the index of the failed operation, counted from 0.
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
                Self::new(ViolationCode::PatchFailed, at, expected, found).with_message(message)
            }
            PatchError::TestFailed { index, pointer, expected, found } => {
                let at = format!("/{index}/value");
                let location = describe_pointer(&pointer);
                let message = format!(
                    "{at}: the test expects {expected} at {location}, the document has {found}"
                );
                Self::new(ViolationCode::TestFailed, at, expected, found).with_message(message)
            }
        }
    }
}

/// Returns the pointer as messages name it; the empty pointer is "the whole document".
pub(super) fn describe_pointer(pointer: &str) -> &str {
    if pointer.is_empty() { "the whole document" } else { pointer }
}

/// What an operation requires and what it found, before the operation is known.
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

/// The reason why one operation failed.
#[derive(Debug)]
pub(super) enum PatchOperationError {
    /// The operation cannot use its `path`.
    Path(PatchMismatch),
    /// The operation cannot use its `from`.
    From(PatchMismatch),
    /// The value of a `test` differs; `inside` is the pointer of the difference relative to `path`.
    Test { inside: String, obstacle: PatchMismatch },
}

impl PatchOperationError {
    /// Adds the index and the pointer of the operation.
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

/// Returns the pointer, within the patch, to a member of the operation at `index`.
pub(super) fn member_pointer(index: usize, name: &str) -> String {
    json::child_pointer(&format!("/{index}"), name)
}
