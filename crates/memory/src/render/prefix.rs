//! Measures how much of a prompt a provider's cache can reuse.

/// The common prefix of two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommonPrefix {
    /// The number of leading bytes that did not change.
    pub bytes: usize,
    /// The length of the previous text in bytes.
    pub total_bytes: usize,
}

impl CommonPrefix {
    /// Returns the unchanged share of the previous text, from 0 to 1; 1 if that text was empty.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.total_bytes == 0 { 1.0 } else { self.bytes as f64 / self.total_bytes as f64 }
    }
}

/// Measures how much of the previous text the next one begins with.
#[must_use]
pub fn measure_common_prefix(previous: &str, next: &str) -> CommonPrefix {
    let same = previous.bytes().zip(next.bytes()).take_while(|(one, other)| one == other);
    CommonPrefix { bytes: same.count(), total_bytes: previous.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_what_was_before() {
        assert_eq!(measure_common_prefix("abcd", "abxy").share(), 0.5);
        assert_eq!(measure_common_prefix("ab", "abcd").share(), 1.0);
        assert_eq!(measure_common_prefix("", "x").share(), 1.0);
        assert_eq!(measure_common_prefix("x", "").share(), 0.0);
    }
}
