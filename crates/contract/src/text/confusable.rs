//! Confusables: texts that look alike are folded into the same text.
//!
//! The folded text compares what a reader would take for the same text, whatever letters it uses:
//! Cyrillic and Greek letters that look Latin, full-width letters, mathematical letters, small
//! capitals, accents, `l` and `I` and `1`. It follows the idea of Unicode's UTS 39 with its own
//! table. A folded text is never displayed.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::display::is_hidden;

/// Returns the folded form of a text. It omits hidden characters and combining marks; everything else
/// keeps its order, and white space is preserved.
#[must_use]
pub fn fold_confusables(text: &str) -> String {
    let mut shaped = String::with_capacity(text.len() + 8);
    if text.is_ascii() {
        text.chars().for_each(|character| push_folded(&mut shaped, character));
        return shaped;
    }
    let seen = text.nfkd().filter(|one| !is_combining_mark(*one) && !is_hidden(*one));
    seen.for_each(|character| push_folded(&mut shaped, character));
    shaped
}

fn push_folded(shaped: &mut String, character: char) {
    match to_latin_lookalike(character) {
        // `rn` looks like `m`, `vv` like `w`, and `I` and `1` look like `l`.
        'm' => shaped.push_str("rn"),
        'w' => shaped.push_str("vv"),
        'i' | '1' => shaped.push('l'),
        '0' => shaped.push('o'),
        other => shaped.push(other),
    }
}

/// Returns the lower-case Latin letter that a character looks like, or the character in lower case.
fn to_latin_lookalike(character: char) -> char {
    match character {
        'A'..='Z' => character.to_ascii_lowercase(),
        '\0'..='\x7f' => character,
        'А' | 'а' | 'Α' | 'α' | 'ɑ' | 'ᴀ' => 'a',
        'В' | 'в' | 'Β' | 'β' | 'ʙ' | 'Ь' | 'ь' => 'b',
        'С' | 'с' | 'Ϲ' | 'ϲ' | 'ᴄ' => 'c',
        'ԁ' | 'đ' | 'ᴅ' => 'd',
        'Е' | 'е' | 'Ε' | 'ε' | 'є' | 'ə' | 'ɛ' | 'ᴇ' => 'e',
        'ƒ' | 'ꜰ' => 'f',
        'ɡ' | 'ց' | 'ɢ' => 'g',
        'Н' | 'н' | 'Η' | 'һ' | 'հ' | 'ħ' | 'ʜ' => 'h',
        'І' | 'і' | 'Ι' | 'ι' | 'ı' | 'ɩ' | 'ɪ' | 'Ӏ' | 'ӏ' | 'ł' | 'ʟ' => 'i',
        'Ј' | 'ј' | 'ᴊ' => 'j',
        'К' | 'к' | 'Κ' | 'κ' | 'ᴋ' => 'k',
        'М' | 'м' | 'Μ' | 'ᴍ' => 'm',
        'Ν' | 'η' | 'п' | 'ո' | 'ɴ' => 'n',
        'О' | 'о' | 'Ο' | 'ο' | 'σ' | 'օ' | 'ø' | 'Ø' | 'ᴏ' => 'o',
        'Р' | 'р' | 'Ρ' | 'ρ' | 'ᴘ' => 'p',
        'ԛ' | 'զ' => 'q',
        'г' | 'ʀ' => 'r',
        'Ѕ' | 'ѕ' | 'ꜱ' => 's',
        'Т' | 'т' | 'Τ' | 'τ' | 'ŧ' | 'ᴛ' => 't',
        'υ' | 'ս' | 'ᴜ' => 'u',
        'ν' | 'ѵ' | 'ᴠ' => 'v',
        'ԝ' | 'ω' | 'ѡ' | 'ᴡ' => 'w',
        'Х' | 'х' | 'Χ' | 'χ' => 'x',
        'У' | 'у' | 'Υ' | 'γ' | 'ʏ' => 'y',
        'Ζ' | 'ᴢ' => 'z',
        // A capital letter may have no Latin lookalike although its small letter has one.
        other => match other.to_lowercase().next() {
            Some(small) if small != other => to_latin_lookalike(small),
            _ => other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_has_one_shape() {
        for (one, other) in [
            ("Carol is leaving", "Саrоl іѕ lеаvіng"),
            ("Carol is leaving", "CaroI is leaving"),
            ("Carol is leaving", "Ｃａｒｏｌ is 𝐥𝐞𝐚𝐯𝐢𝐧𝐠"),
            ("Carol is leaving", "Càröl\u{200b} ı\u{301}s lea\u{202e}v\u{ad}ing"),
            ("HOME", "ΗΟΜΕ"),
            ("modern", "rnodem"),
            ("клиент уйдёт", "КЛИЕНТ УЙДЕТ"),
        ] {
            assert_eq!(fold_confusables(one), fold_confusables(other), "{one} and {other}");
        }
        assert_ne!(fold_confusables("Carol is leaving"), fold_confusables("Karl is leaving"));
        assert_ne!(fold_confusables("客户打算"), fold_confusables("客户不打算"));
    }

    #[test]
    fn the_shape_of_a_shape_is_itself() {
        for text in ["Carol is 10", "Саrоl уйдёт", "客户 가나다", "naïve Ωmega"] {
            assert_eq!(fold_confusables(&fold_confusables(text)), fold_confusables(text));
        }
    }
}
