//! Byte ranges in a text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Range of a text in byte offsets; the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TextSpan {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset one past the last byte.
    pub end: usize,
}

impl TextSpan {
    /// Creates a span from `start` up to, but not including, `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// Returns the span moved forward by `by` bytes.
    #[must_use]
    pub fn shift_by(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }

    /// Returns the span as a range, for slicing.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start..self.end
    }
}

/// Serialized as `[start, end]`, the form that programs slice with.
impl Serialize for TextSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.start, self.end].serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TextSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let [start, end] = <[usize; 2]>::deserialize(deserializer)?;
        Ok(Self::new(start, end))
    }
}
