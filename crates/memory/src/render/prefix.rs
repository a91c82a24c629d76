//! How much of a prompt a provider's cache would still know.

/// How much of a text is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommonPrefix {
    /// Bytes from the beginning that did not change.
    pub bytes: usize,
    /// Bytes of the text before.
    pub of: usize,
}

impl CommonPrefix {
    /// From 0 to 1; 1 where there was no text before.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.of == 0 { 1.0 } else { self.bytes as f64 / self.of as f64 }
    }
}

/// How much of the text before stands unchanged at the beginning of the next one.
#[must_use]
pub fn measure_common_prefix(previous: &str, next: &str) -> CommonPrefix {
    let same = previous.bytes().zip(next.bytes()).take_while(|(one, other)| one == other);
    CommonPrefix { bytes: same.count(), of: previous.len() }
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
