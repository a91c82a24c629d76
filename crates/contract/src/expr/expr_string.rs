//! Strings that JavaScript counts in UTF-16 code units, stored as UTF-8.
//!
//! Every string is well formed. An operation that would split a surrogate pair returns an
//! [`UnlocatedError`], because half a pair is not text and could not be stored, sent or displayed.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;

/// String borrowed from a root, or one that an expression contains or creates.
#[derive(Debug, Clone)]
pub enum ExprString<'a> {
    /// Borrowed from a root.
    Borrowed(&'a str),
    /// Created by the expression, or one of its literals.
    Shared(Arc<str>),
}

/// Compares the characters, regardless of where they are stored.
impl PartialEq for ExprString<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ExprString<'_> {}

impl PartialOrd for ExprString<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ExprString<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Borrow<str> for ExprString<'_> {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl ExprString<'_> {
    /// Returns the characters as UTF-8.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }

    /// Returns a part of the string by byte range: borrowed if the string is borrowed, otherwise a
    /// copy charged to the budget.
    pub(super) fn slice(
        &self,
        range: Range<usize>,
        budget: &mut EvalBudget,
    ) -> Result<Self, UnlocatedError> {
        match self {
            Self::Borrowed(text) => Ok(Self::Borrowed(&text[range])),
            Self::Shared(text) if range == (0..text.len()) => Ok(Self::Shared(Arc::clone(text))),
            Self::Shared(text) => {
                budget.charge_bytes(range.len())?;
                Ok(Self::Shared(Arc::from(&text[range])))
            }
        }
    }
}

impl From<String> for ExprString<'_> {
    fn from(text: String) -> Self {
        Self::Shared(Arc::from(text))
    }
}

/// Position of a number of code units within the UTF-8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeUnitPosition {
    /// Before the character that starts at this byte, or at the end of the string.
    Boundary(usize),
    /// Inside a surrogate pair; the next character starts at this byte.
    InsideSurrogatePair(usize),
}

/// Returns whether JavaScript treats the character as white space, including line endings. U+FEFF
/// is white space, U+0085 is not.
pub(super) fn is_js_space(character: char) -> bool {
    match character {
        '\t'..='\r' | ' ' | '\u{a0}' | '\u{feff}' => true,
        '\u{85}' => false,
        _ => !character.is_ascii() && character.is_whitespace(),
    }
}

/// Returns the length in UTF-16 code units.
pub(super) fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// Returns the position after this many code units; a position past the end is the end.
pub(super) fn find_position(text: &str, units: usize) -> CodeUnitPosition {
    if text.is_ascii() {
        return CodeUnitPosition::Boundary(units.min(text.len()));
    }
    let mut seen = 0;
    for (byte, character) in text.char_indices() {
        if seen == units {
            return CodeUnitPosition::Boundary(byte);
        }
        seen += character.len_utf16();
        if seen > units {
            return CodeUnitPosition::InsideSurrogatePair(byte + character.len_utf8());
        }
    }
    CodeUnitPosition::Boundary(text.len())
}

/// Returns the byte range of the code units `from..to`.
pub(super) fn find_byte_range(
    text: &str,
    from: usize,
    to: usize,
) -> Result<Range<usize>, UnlocatedError> {
    if from >= to {
        return Ok(0..0);
    }
    match (find_position(text, from), find_position(text, to)) {
        (CodeUnitPosition::Boundary(start), CodeUnitPosition::Boundary(end)) => Ok(start..end),
        _ => Err(split_surrogate_error()),
    }
}

/// Compares by code units, which for some characters differs from the order of code points.
pub(super) fn compare_utf16(left: &str, right: &str) -> Ordering {
    if left.is_ascii() || right.is_ascii() {
        left.cmp(right)
    } else {
        left.encode_utf16().cmp(right.encode_utf16())
    }
}

#[cold]
pub(super) fn split_surrogate_error() -> UnlocatedError {
    UnlocatedError::new("this would split a surrogate pair, and half a character is not text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_counted_as_utf_16() {
        assert_eq!(utf16_len("abc"), 3);
        assert_eq!(utf16_len("да"), 2);
        assert_eq!(utf16_len("a😀b"), 4);
        assert_eq!(find_position("a😀b", 1), CodeUnitPosition::Boundary(1));
        assert_eq!(find_position("a😀b", 2), CodeUnitPosition::InsideSurrogatePair(5));
        assert_eq!(find_position("a😀b", 3), CodeUnitPosition::Boundary(5));
        assert_eq!(find_position("a😀b", 9), CodeUnitPosition::Boundary(6));
        assert_eq!(find_byte_range("a😀b", 1, 3).unwrap(), 1..5);
        assert!(find_byte_range("a😀b", 1, 2).is_err());
        assert_eq!(find_byte_range("a😀b", 2, 2).unwrap(), 0..0);
    }

    #[test]
    fn order_is_by_code_unit() {
        // U+FF5E sorts after every surrogate, although its code point is lower.
        assert_eq!(compare_utf16("\u{ff5e}", "😀"), Ordering::Greater);
        assert_eq!(compare_utf16("a", "😀"), Ordering::Less);
        assert_eq!(compare_utf16("ab", "a"), Ordering::Greater);
    }

    #[test]
    fn white_space_is_javascripts() {
        for character in ['\u{feff}', '\u{2028}', '\u{3000}', '\u{b}', '\u{a0}', '\u{1680}'] {
            assert!(is_js_space(character), "{character:?}");
        }
        for character in ['\u{85}', '\u{200b}', 'a', '\u{180e}', '\u{1c}'] {
            assert!(!is_js_space(character), "{character:?}");
        }
    }
}
