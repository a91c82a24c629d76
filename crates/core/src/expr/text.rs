//! Strings as JavaScript counts them: in UTF-16 code units, over Rust's UTF-8.
//!
//! Every string here is well formed. What would cut a surrogate pair in two is a [`Fault`], because
//! half a pair is not text and could not be kept, sent or shown.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::budget::Budget;
use super::error::Fault;

/// A string that is part of the state, or one that an expression holds or made.
#[derive(Debug, Clone)]
pub enum Text<'a> {
    /// Borrowed from a root.
    Borrowed(&'a str),
    /// Made by the expression, or a literal of it.
    Shared(Arc<str>),
}

/// By the characters, wherever they lie.
impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text<'_> {}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl Text<'_> {
    /// The characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }

    /// A part of it, by byte range; borrowed where the whole was, else paid for.
    pub(super) fn part(&self, range: Range<usize>, budget: &mut Budget) -> Result<Self, Fault> {
        match self {
            Self::Borrowed(text) => Ok(Self::Borrowed(&text[range])),
            Self::Shared(text) if range == (0..text.len()) => Ok(Self::Shared(Arc::clone(text))),
            Self::Shared(text) => {
                budget.create(range.len())?;
                Ok(Self::Shared(Arc::from(&text[range])))
            }
        }
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self::Shared(Arc::from(text))
    }
}

/// Where a count of code units falls in the UTF-8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the character that begins at this byte, or at the end.
    Between(usize),
    /// Inside a surrogate pair; the next character begins at this byte.
    Inside(usize),
}

/// JavaScript's white space, line ends included; U+FEFF is, U+0085 is not.
pub(super) fn is_js_space(character: char) -> bool {
    match character {
        '\t'..='\r' | ' ' | '\u{a0}' | '\u{feff}' => true,
        '\u{85}' => false,
        _ => !character.is_ascii() && character.is_whitespace(),
    }
}

/// The length in code units.
pub(super) fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// Finds the place after this many code units; past the end is the end.
pub(super) fn place(text: &str, units: usize) -> Place {
    if text.is_ascii() {
        return Place::Between(units.min(text.len()));
    }
    let mut seen = 0;
    for (byte, character) in text.char_indices() {
        if seen == units {
            return Place::Between(byte);
        }
        seen += character.len_utf16();
        if seen > units {
            return Place::Inside(byte + character.len_utf8());
        }
    }
    Place::Between(text.len())
}

/// The byte range of the code units `from..to`.
pub(super) fn range(text: &str, from: usize, to: usize) -> Result<Range<usize>, Fault> {
    if from >= to {
        return Ok(0..0);
    }
    match (place(text, from), place(text, to)) {
        (Place::Between(start), Place::Between(end)) => Ok(start..end),
        _ => Err(split_pair()),
    }
}

/// Compares by code units, which for some characters is not the order of code points.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    if left.is_ascii() || right.is_ascii() {
        left.cmp(right)
    } else {
        left.encode_utf16().cmp(right.encode_utf16())
    }
}

#[cold]
pub(super) fn split_pair() -> Fault {
    Fault::new("this would split a surrogate pair: half a character is not text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_counted_as_utf_16() {
        assert_eq!(length("abc"), 3);
        assert_eq!(length("да"), 2);
        assert_eq!(length("a😀b"), 4);
        assert_eq!(place("a😀b", 1), Place::Between(1));
        assert_eq!(place("a😀b", 2), Place::Inside(5));
        assert_eq!(place("a😀b", 3), Place::Between(5));
        assert_eq!(place("a😀b", 9), Place::Between(6));
        assert_eq!(range("a😀b", 1, 3).unwrap(), 1..5);
        assert!(range("a😀b", 1, 2).is_err());
        assert_eq!(range("a😀b", 2, 2).unwrap(), 0..0);
    }

    #[test]
    fn order_is_by_code_unit() {
        // U+FF5E comes after every surrogate, though its code point is lower.
        assert_eq!(compare("\u{ff5e}", "😀"), Ordering::Greater);
        assert_eq!(compare("a", "😀"), Ordering::Less);
        assert_eq!(compare("ab", "a"), Ordering::Greater);
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
