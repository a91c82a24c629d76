//! One way of writing a text, to tell whether two are the same or one stands in the other.
//!
//! Unlike a fingerprint it keeps the order of words: who pays whom must not be lost as a duplicate.

/// Letters and digits in lower case, one space between their runs; the trimmed text where there are
/// none. Letters of full width are like others, and what has no width at all is not there.
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

/// A sign of full width as its like in ASCII.
fn to_half_width(wide: char) -> char {
    char::from_u32(u32::from(wide) - 0xfee0).unwrap_or(wide)
}

/// Whether a text that is written so holds whole words that are.
pub(super) fn contains_words(text: &str, words: &str) -> bool {
    if words.is_empty() || words.len() > text.len() {
        return false;
    }
    text.match_indices(words).any(|(at, found)| {
        let cut = |character: Option<char>, inside: Option<char>| {
            // Scripts without spaces have no ends of words to look for.
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
