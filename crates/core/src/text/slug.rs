//! A text as part of a file name.

use super::fold::fold;
use unicode_normalization::char::is_combining_mark;

/// The most bytes: a folder, a number and an ending still fit beside it everywhere.
const MOST_BYTES: usize = 80;
/// What a text without a letter or a digit is called.
const NAMELESS: &str = "untitled";
/// Names that some systems keep for devices.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

/// A safe part of a file name: folded letters and digits of any script, with `-` between words.
///
/// It is never empty, never longer than 80 bytes, and holds no dot, slash, space or control character.
/// Different texts may give the same part.
///
/// ```
/// use countersign_core::text::slug;
///
/// assert_eq!(slug("../Price list (Q3).pdf"), "price-list-q3-pdf");
/// ```
#[must_use]
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    let mut gap = false;
    for character in fold(text).chars() {
        let marks = is_combining_mark(character) && !slug.is_empty() && !gap;
        if !character.is_alphanumeric() && !marks {
            gap = character != '\'' || gap;
            continue;
        }
        let dash = usize::from(gap && !slug.is_empty());
        if slug.len() + dash + character.len_utf8() > MOST_BYTES {
            break;
        }
        if dash == 1 {
            slug.push('-');
        }
        slug.push(character);
        gap = false;
    }
    if slug.is_empty() {
        return NAMELESS.to_owned();
    }
    if is_device(&slug) {
        slug.push('_');
    }
    slug
}

fn is_device(name: &str) -> bool {
    let port = name.strip_prefix("com").or_else(|| name.strip_prefix("lpt"));
    DEVICES.contains(&name) || port.is_some_and(|port| matches!(port.as_bytes(), [b'0'..=b'9']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_readable() {
        for (text, expected) in [
            ("Contract draft", "contract-draft"),
            ("  --Итоговый отчёт №5--  ", "итоговый-отчет-no5"),
            ("合同 2024/05", "合同-2024-05"),
            ("../../etc/passwd", "etc-passwd"),
            ("C:\\temp\\a\0b", "c-temp-a-b"),
            ("owner’s file", "owners-file"),
            ("", "untitled"),
            ("…", "untitled"),
            ("CON", "con_"),
            ("com1", "com1_"),
            ("com10", "com10"),
            ("सही उत्तर", "सही-उत्तर"),
        ] {
            assert_eq!(slug(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        for text in ["договор ".repeat(50), "价".repeat(100), "a".repeat(500)] {
            let slug = slug(&text);
            assert!(slug.len() <= 80 && slug.len() > 70, "{slug}");
            assert!(!slug.ends_with('-'), "{slug}");
        }
    }
}
