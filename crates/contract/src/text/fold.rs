//! Text folding: unifies case, width, ligatures and the accents that writers omit.
//!
//! Folded text is for comparison only, never for display.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::script::{ScriptClass, classify_script};

/// Folds a text for comparison: NFKC, case folding, Latin letters and `ё` without their diacritics.
pub(super) fn fold_text(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    if let Some(folded) = text.chars().map(fold_char).collect() {
        return folded;
    }
    let mut base = ' ';
    text.nfkd()
        // Converting to upper case first folds `ß` to `ss` and the final `ς` to `σ`.
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfd()
        .filter(|character| {
            if !is_combining_mark(*character) {
                base = *character;
                return !is_invisible(*character);
            }
            let is_dotted_ye = base == 'е' && *character == '\u{308}';
            classify_script(base) != ScriptClass::Latin && !is_dotted_ye
        })
        .map(|character| if is_apostrophe(character) { '\'' } else { character })
        .nfc()
        .collect()
}

/// Folds a character that does not depend on its neighbours: ASCII, Russian letters, Chinese
/// characters, Korean syllables. Most texts consist of these and need no Unicode tables.
fn fold_char(character: char) -> Option<char> {
    match character {
        '\0'..='\x7f' => Some(character.to_ascii_lowercase()),
        'А'..='Я' => char::from_u32(u32::from(character) + 0x20),
        'а'..='я' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '、' | '。' => {
            Some(character)
        }
        'Ё' | 'ё' => Some('е'),
        _ => None,
    }
}

/// Returns whether a character inside a word is not read: soft hyphens, joiners, direction marks.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

fn is_apostrophe(character: char) -> bool {
    matches!(character, '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{ff07}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appending a character that is not plain forces the table-based path.
    #[test]
    fn what_is_plain_is_folded_as_by_the_tables() {
        let plain = ('\0'..='\u{ffff}').filter(|character| fold_char(*character).is_some());
        let mut seen = 0;
        for character in plain {
            let short = fold_text(&format!("я{character}а"));
            let long = fold_text(&format!("я{character}а½"));
            assert_eq!(format!("{short}1\u{2044}2"), long, "{character:?}");
            seen += 1;
        }
        assert!(seen > 30_000, "only {seen}");
    }

    #[test]
    fn one_way_of_writing() {
        for (written, folded) in [
            ("Contract", "contract"),
            ("ＣＯＮＴＲＡＣＴ １２", "contract 12"),
            ("Straße", "strasse"),
            ("ﬁnal", "final"),
            ("CAFÉ café cafe\u{301}", "cafe cafe cafe"),
            ("Ёлка ЕЩЁ", "елка еще"),
            ("Йод", "йод"),
            ("ΛΌΓΟΣ λόγος", "λόγοσ λόγοσ"),
            ("ｶﾞ", "ガ"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("con\u{ad}tract", "contract"),
            ("owner’s", "owner's"),
        ] {
            assert_eq!(fold_text(written), folded, "{written}");
        }
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for text in ["Straße İstanbul ŉ", "Ёж ΐ ᾳ", "ｶﾞギガ 한글", "क्षि ﷺ"]
        {
            assert_eq!(fold_text(&fold_text(text)), fold_text(text), "{text}");
        }
    }
}
