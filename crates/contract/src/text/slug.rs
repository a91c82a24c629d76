//! Slugs: texts converted to a part of a file name.

use super::fold::fold_text;
use unicode_normalization::char::is_combining_mark;

/// Maximum length of a slug, in bytes. It leaves room for a folder, a number and an extension on
/// every file system.
const MAX_SLUG_BYTES: usize = 80;
/// Slug of a text without letters and digits.
const UNTITLED: &str = "untitled";
/// Names that some operating systems reserve for devices.
const RESERVED_DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

/// Converts a text into a safe part of a file name: folded letters and digits of any script, with
/// `-` between words.
///
/// The result is never empty, at most 80 bytes long, and contains no dot, slash, space or control
/// character. Different texts may have the same slug.
///
/// ```
/// use countersign_contract::text::slugify;
///
/// assert_eq!(slugify("../Price list (Q3).pdf"), "price-list-q3-pdf");
/// ```
#[must_use]
pub fn slugify(text: &str) -> String {
    let mut slug = String::new();
    let mut gap = false;
    for character in fold_text(text).chars() {
        let marks = is_combining_mark(character) && !slug.is_empty() && !gap;
        if !character.is_alphanumeric() && !marks {
            gap = character != '\'' || gap;
            continue;
        }
        let dash = usize::from(gap && !slug.is_empty());
        if slug.len() + dash + character.len_utf8() > MAX_SLUG_BYTES {
            break;
        }
        if dash == 1 {
            slug.push('-');
        }
        slug.push(character);
        gap = false;
    }
    if slug.is_empty() {
        return UNTITLED.to_owned();
    }
    if is_reserved_device(&slug) {
        slug.push('_');
    }
    slug
}

fn is_reserved_device(name: &str) -> bool {
    let port = name.strip_prefix("com").or_else(|| name.strip_prefix("lpt"));
    RESERVED_DEVICES.contains(&name)
        || port.is_some_and(|port| matches!(port.as_bytes(), [b'0'..=b'9']))
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
            assert_eq!(slugify(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        for text in ["договор ".repeat(50), "价".repeat(100), "a".repeat(500)] {
            let slug = slugify(&text);
            assert!(slug.len() <= 80 && slug.len() > 70, "{slug}");
            assert!(!slug.ends_with('-'), "{slug}");
        }
    }
}
