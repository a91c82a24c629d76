//! Normalizes text to find out whether two texts are equal or one contains the other.
//!
//! Unlike a fingerprint, the normalized text keeps the word order: who pays whom must not be lost
//! as a duplicate.

/// Returns letters and digits in lower case with one space between runs; the trimmed text if it has
/// neither. Full-width letters become ASCII, and zero-width characters are removed.
pub(crate) fn normalize_text(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut gap = false;
    for character in text.chars() {
        let character = match character {
            '\u{ff01}'..='\u{ff5e}' => to_half_width(character),
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => continue,
            other => other,
        };
        if !character.is_alphanumeric() {
            gap = true;
            continue;
        }
        if gap && !written.is_empty() {
            written.push(' ');
        }
        gap = false;
        if character.is_ascii() {
            written.push(character.to_ascii_lowercase());
        } else {
            written.extend(character.to_lowercase());
        }
    }
    if written.is_empty() { text.trim().to_owned() } else { written }
}

/// Converts a full-width character to its ASCII equivalent.
fn to_half_width(wide: char) -> char {
    char::from_u32(u32::from(wide) - 0xfee0).unwrap_or(wide)
}

/// Returns whether a normalized text contains normalized words as whole words.
pub(super) fn contains_words(text: &str, words: &str) -> bool {
    if words.is_empty() || words.len() > text.len() {
        return false;
    }
    text.match_indices(words).any(|(at, found)| {
        let cut = |character: Option<char>, inside: Option<char>| {
            // Scripts without spaces have no word boundaries to check.
            matches!((character, inside), (Some(one), Some(other)) if one != ' ' && one.is_ascii() && other.is_ascii())
        };
        !cut(text[..at].chars().next_back(), found.chars().next())
            && !cut(text[at + found.len()..].chars().next(), found.chars().next_back())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_counts_and_signs_do_not() {
        assert_eq!(normalize_text("  Hello,\nWORLD! "), "hello world");
        assert_eq!(normalize_text("👍"), "👍");
        assert_eq!(normalize_text("Ｃａｒｏｌ　ｉｓ lea\u{200b}ving！"), "carol is leaving");
        assert_ne!(normalize_text("A pays B"), normalize_text("B pays A"));
    }

    #[test]
    fn words_are_found_whole() {
        assert!(contains_words("the price of tea", "price of"));
        assert!(!contains_words("the prices of tea", "price"));
        assert!(contains_words("合同价格是多少", "价格"));
        assert!(!contains_words("x", ""));
    }
}
