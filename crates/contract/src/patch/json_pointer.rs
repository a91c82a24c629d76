//! A validated JSON Pointer (RFC 6901), stored as text.
//!
//! The parser accepts only the exact grammar, so two pointers name the same location only if their
//! texts are equal. For pointers with wildcards, see `json::JsonPointerPattern`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::json;

/// A location in a document. The empty pointer is the whole document.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JsonPointer(String);

/// The reason why a text is not a JSON Pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JsonPointerError {
    /// The text is not empty and does not begin with `/`.
    #[error("expected a JSON Pointer, found text that does not begin with `/`")]
    NoSlash,
    /// A `~` is followed by neither `0` nor `1`.
    #[error("expected a JSON Pointer, found a `~` that is neither `~0` nor `~1`")]
    BareTilde,
}

impl JsonPointer {
    /// Returns the empty pointer, which names the whole document.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Parses a pointer without repairing anything.
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonPointerError> {
        let text = text.into();
        if !text.is_empty() && !text.starts_with('/') {
            return Err(JsonPointerError::NoSlash);
        }
        if text.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1'])) {
            return Err(JsonPointerError::BareTilde);
        }
        Ok(Self(text))
    }

    /// Returns the pointer text with its `~0` and `~1` escapes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the pointer to a member or item of this location. `segment` is unescaped text.
    #[must_use]
    pub fn child(&self, segment: &str) -> Self {
        Self(json::child_pointer(&self.0, segment))
    }

    /// Returns whether this location lies inside the other. A location does not lie inside itself.
    #[must_use]
    pub fn is_below(&self, other: &Self) -> bool {
        strip_ancestor(&self.0, &other.0).is_some()
    }

    /// Returns the number of segments; 0 for the root.
    pub(super) fn depth(&self) -> usize {
        self.0.matches('/').count()
    }

    /// Returns the parent pointer and the unescaped last segment, or `None` for the root.
    pub(super) fn split_last(&self) -> Option<(&str, Cow<'_, str>)> {
        let parent = json::parent_pointer(&self.0)?;
        json::split_pointer(&self.0[parent.len()..]).next().map(|segment| (parent, segment))
    }

    /// Returns the pointer to an item of the array.
    pub(super) fn from_array_item(array: &str, index: usize) -> Self {
        Self(format!("{array}/{index}"))
    }

    /// Returns the index of the item of `array` that this pointer names or lies below.
    pub(super) fn index_in(&self, array: &str) -> Option<usize> {
        find_index_below(&self.0, array)
    }

    /// Returns this pointer as it is after an item is inserted into `array` before the item that
    /// this pointer names or lies below.
    pub(super) fn shift_index_in(&self, array: &str) -> Self {
        match self.index_in(array) {
            Some(index) => {
                let rest = &self.0[array.len() + 1..];
                let tail = rest.find('/').map_or("", |slash| &rest[slash..]);
                Self(format!("{array}/{}{tail}", index + 1))
            }
            None => self.clone(),
        }
    }
}

/// Returns the index of the item of `array` that the pointer names or lies below.
pub(super) fn find_index_below(pointer: &str, array: &str) -> Option<usize> {
    strip_ancestor(pointer, array)?.split('/').nth(1).and_then(parse_index)
}

/// Returns the part of `pointer` after `other`, beginning with `/`, if `pointer` lies inside
/// `other`.
fn strip_ancestor<'p>(pointer: &'p str, other: &str) -> Option<&'p str> {
    pointer.strip_prefix(other).filter(|rest| rest.starts_with('/'))
}

/// Parses an array index as RFC 6901 defines it: digits without a leading zero.
pub(super) fn parse_index(segment: &str) -> Option<usize> {
    let digits = segment.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = segment.len() > 1 && segment.starts_with('0');
    if digits && !leading_zero { segment.parse().ok() } else { None }
}

impl fmt::Display for JsonPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for JsonPointer {
    type Err = JsonPointerError;

    fn from_str(text: &str) -> Result<Self, JsonPointerError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for JsonPointer {
    type Error = JsonPointerError;

    fn try_from(text: String) -> Result<Self, JsonPointerError> {
        Self::parse(text)
    }
}

impl From<JsonPointer> for String {
    fn from(pointer: JsonPointer) -> Self {
        pointer.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_taken_strictly() {
        for good in ["", "/", "//", "/a/b", "/~0", "/~1", "/~01", "/a~1b~0c", "/é", "/-", "/ "] {
            assert_eq!(JsonPointer::parse(good).unwrap().as_str(), good);
        }
        for bad in ["a", "a/b", " /a", "#/a", "0", "-"] {
            assert_eq!(JsonPointer::parse(bad), Err(JsonPointerError::NoSlash), "{bad}");
        }
        for bad in ["/~", "/~2", "/a~/b", "/~~0", "/a~"] {
            assert_eq!(JsonPointer::parse(bad), Err(JsonPointerError::BareTilde), "{bad}");
        }
    }

    #[test]
    fn below_is_by_segments_and_never_itself() {
        let below = |inner: &str, outer: &str| {
            JsonPointer::parse(inner).unwrap().is_below(&JsonPointer::parse(outer).unwrap())
        };
        assert!(below("/a/b", "/a"));
        assert!(below("/a", ""));
        assert!(below("/a/", "/a"));
        assert!(!below("/ab", "/a"));
        assert!(!below("/a", "/a"));
        assert!(!below("", ""));
        assert!(!below("/a~1b", "/a"));
    }

    #[test]
    fn an_index_is_digits_without_a_leading_zero() {
        for (segment, expected) in [("0", Some(0)), ("10", Some(10)), ("7", Some(7))] {
            assert_eq!(parse_index(segment), expected);
        }
        for bad in
            ["", "-", "-1", "+1", "00", "01", "1e0", "1.0", " 1", "१", "99999999999999999999"]
        {
            assert_eq!(parse_index(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_place_moves_with_its_array() {
        let pointer = JsonPointer::parse("/list/2/a/0").unwrap();
        assert_eq!(pointer.index_in("/list"), Some(2));
        assert_eq!(pointer.index_in("/list/2/a"), Some(0));
        assert_eq!(pointer.index_in("/list/2"), None);
        assert_eq!(pointer.index_in("/lis"), None);
        assert_eq!(pointer.shift_index_in("/list").as_str(), "/list/3/a/0");
        assert_eq!(pointer.shift_index_in("/list/2/a").as_str(), "/list/2/a/1");
    }
}
