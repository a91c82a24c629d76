//! The language of a text, by its script and its frequent words.
//!
//! It decides in which language a program answers, so it says nothing rather than guess: a text of
//! names and numbers, or of a language that it does not know, has none.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::fold::fold_text;

/// Maximum length in bytes of the beginning that is read.
const MAX_READ_BYTES: usize = 4096;
/// Weight of a Chinese, Japanese or Korean character in letters: it is about a word.
const DENSE_WEIGHT: usize = 3;
/// Minimum number of frequent words in Latin letters that make a text with many Cyrillic letters
/// one in Latin letters.
const MIN_FOREIGN_WORDS: usize = 2;

/// Frequent words of languages in Latin letters. A word of several languages counts for each.
const LATIN_WORDS: &[(&str, &str)] = &[
    (
        "en",
        "the a an of to in and or is are was were be for with on at by from this that it we you i my our your need needs want what which who when how many much please have has do does not no can will would should must there their his her he she they between about as if under per",
    ),
    (
        "de",
        "der die das den dem des ein eine einen einem einer und oder ist sind war ich wir sie ihr mein unser nicht kein mit von zu im am für auf bei nach wie was wer wann bitte brauche brauchen wird werden zwischen über als wenn",
    ),
    (
        "fr",
        "le la les un une des du de et ou est sont je nous vous il elle mon notre votre pas avec pour dans sur par que qui quoi quand comment combien besoin entre au aux ce cette ces si",
    ),
    (
        "es",
        "el la los las un una unos unas de del y o es son yo nosotros usted mi nuestro su no con por para en que quien cuando como cuanto necesito entre al este esta si se",
    ),
];

static FOLDED_LATIN_WORDS: LazyLock<Vec<(&str, BTreeSet<String>)>> = LazyLock::new(|| {
    let fold = |list: &str| list.split(' ').map(fold_text).collect();
    LATIN_WORDS.iter().map(|(language, list)| (*language, fold(list))).collect()
});

/// Letters of a text by script.
#[derive(Debug, Default)]
struct LetterCounts {
    latin: usize,
    cyrillic: usize,
    ukrainian: usize,
    han: usize,
    kana: usize,
    hangul: usize,
}

/// Returns the language of a text as a tag of two letters, or `None` if it is not recognized.
///
/// It knows Russian, Ukrainian, Chinese, Japanese and Korean by their letters, and English, German,
/// French and Spanish by frequent words. The script with most letters decides; Latin letters count
/// less, because names of products are written with them in every language. Only the first four kilobytes are read.
///
/// ```
/// use countersign_contract::text::detect_language;
///
/// assert_eq!(detect_language("Нужен договор поставки ERP"), Some("ru"));
/// assert_eq!(detect_language("I need a contract"), Some("en"));
/// assert_eq!(detect_language("需要一份合同"), Some("zh"));
/// assert_eq!(detect_language("ACME 2025"), None);
/// ```
#[must_use]
pub fn detect_language(text: &str) -> Option<&'static str> {
    let text = &text[..text.floor_char_boundary(MAX_READ_BYTES)];
    let counts = LetterCounts::from_text(text);
    let dense = (counts.han + counts.kana + counts.hangul) * DENSE_WEIGHT;
    if dense > 0 && dense >= counts.latin.max(counts.cyrillic) {
        return Some(if counts.kana > 0 && counts.kana >= counts.hangul {
            "ja"
        } else if counts.hangul >= counts.han {
            "ko"
        } else {
            "zh"
        });
    }
    let cyrillic = if counts.ukrainian > 0 { "uk" } else { "ru" };
    if counts.cyrillic > 0 && counts.cyrillic >= counts.latin {
        return Some(cyrillic);
    }
    let (language, hits) = detect_latin_language(text)?;
    // Product names fill many texts: Latin letters alone do not outweigh words in another script.
    if counts.cyrillic > 0 && counts.cyrillic * 2 >= counts.latin && hits < MIN_FOREIGN_WORDS {
        return Some(cyrillic);
    }
    (hits > 0).then_some(language)
}

/// Returns the language with the most frequent words, and their number.
fn detect_latin_language(text: &str) -> Option<(&'static str, usize)> {
    let folded = fold_text(text);
    let words: Vec<&str> = folded
        .split(|character: char| !character.is_alphabetic())
        .filter(|word| !word.is_empty())
        .collect();
    let count =
        |known: &BTreeSet<String>| words.iter().filter(|word| known.contains(**word)).count();
    let counted = FOLDED_LATIN_WORDS.iter().map(|(language, known)| (*language, count(known)));
    // On a tie the language that comes first in the table.
    counted.reduce(|best, other| if other.1 > best.1 { other } else { best })
}

impl LetterCounts {
    fn from_text(text: &str) -> Self {
        let mut counts = Self::default();
        for character in text.chars() {
            match character {
                'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => counts.latin += 1,
                'і' | 'ї' | 'є' | 'ґ' | 'І' | 'Ї' | 'Є' | 'Ґ' => {
                    counts.cyrillic += 1;
                    counts.ukrainian += 1;
                }
                '\u{400}'..='\u{52f}' => counts.cyrillic += 1,
                '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => {
                    counts.han += 1;
                }
                '\u{3041}'..='\u{30ff}' => counts.kana += 1,
                '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{ac00}'..='\u{d7a3}' => {
                    counts.hangul += 1;
                }
                _ => {}
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_and_the_frequent_words_decide() {
        for (text, language) in [
            ("I need a contract for the supply of 200 chairs.", Some("en")),
            ("Please draft an NDA with ООО Ромашка", Some("en")),
            ("Нужен договор поставки 200 стульев.", Some("ru")),
            ("Нужна интеграция SAP ERP и Microsoft Dynamics", Some("ru")),
            ("договор", Some("ru")),
            ("Потрібен договір поставки", Some("uk")),
            ("我需要一份供应200把椅子的合同。", Some("zh")),
            ("需要 iPhone 15 Pro Max 的采购合同", Some("zh")),
            ("의자 200개 공급 계약이 필요합니다.", Some("ko")),
            ("契約書が必要です。", Some("ja")),
            ("Ich brauche einen Vertrag über die Lieferung von 200 Stühlen.", Some("de")),
            ("Nous avons besoin d'un contrat pour la livraison de chaises.", Some("fr")),
            ("Necesito un contrato para el suministro de sillas.", Some("es")),
            ("ACME 2025", None),
            ("12.5%", None),
            ("", None),
        ] {
            assert_eq!(detect_language(text), language, "{text}");
        }
    }

    #[test]
    fn only_the_beginning_is_read() {
        let long = format!("{}{}", "я".repeat(MAX_READ_BYTES), "word ".repeat(MAX_READ_BYTES));
        assert_eq!(detect_language(&long), Some("ru"));
        // The limit is inside a letter.
        assert_eq!(detect_language(&format!("a{}", "я".repeat(MAX_READ_BYTES))), Some("ru"));
    }
}
