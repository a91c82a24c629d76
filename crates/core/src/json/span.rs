//! A stretch of text, in bytes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Where something stands in a text: byte offsets, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TextSpan {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl TextSpan {
    /// From `start` up to, not including, `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// The same stretch, `by` bytes further on.
    #[must_use]
    pub fn shift_by(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }

    /// The stretch as a range, for slicing.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start..self.end
    }
}

/// `[start, end]`, which is what programs slice with.
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
