//! The upper bound of a prefix range, for stores that find prefixes by an index.

/// Returns the first text after every text with this prefix; `None` if there is no such text.
pub(crate) fn prefix_upper_bound(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        // The range skips the surrogates, which are not characters.
        if let Some(next) = (last..=char::MAX).nth(1) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::prefix_upper_bound;

    #[test]
    fn a_prefix_ends_before_the_next_text() {
        assert_eq!(prefix_upper_bound("ab").as_deref(), Some("ac"));
        assert_eq!(prefix_upper_bound("a\u{d7ff}").as_deref(), Some("a\u{e000}"));
        assert_eq!(prefix_upper_bound("a\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(prefix_upper_bound("\u{10ffff}"), None);
        assert_eq!(prefix_upper_bound(""), None);
    }
}
