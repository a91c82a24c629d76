//! The shape of a text: what looks alike is written alike.
//!
//! For comparing what a reader would take for the same, whatever letters it is made of: Cyrillic and
//! Greek letters that look Latin, letters of full width, mathematical letters, small capitals,
//! accents, `l` and `I` and `1`. It follows the idea of Unicode's UTS 39 with a table of
//! our own. A shape is never shown.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::display::is_hidden;

/// The shape of a text. Hidden characters and marks on letters are left out; the rest keeps its
/// order, and white space stays.
#[must_use]
pub fn to_confusable_skeleton(text: &str) -> String {
    let mut shaped = String::with_capacity(text.len() + 8);
    if text.is_ascii() {
        text.chars().for_each(|character| push_skeleton(&mut shaped, character));
        return shaped;
    }
    let seen = text.nfkd().filter(|one| !is_combining_mark(*one) && !is_hidden(*one));
    seen.for_each(|character| push_skeleton(&mut shaped, character));
    shaped
}

fn push_skeleton(shaped: &mut String, character: char) {
    match to_latin_lookalike(character) {
        // As narrow letters are read together, and as `I` and `1` are read.
        'm' => shaped.push_str("rn"),
        'w' => shaped.push_str("vv"),
        'i' | '1' => shaped.push('l'),
        '0' => shaped.push('o'),
        other => shaped.push(other),
    }
}

/// The Latin letter in lower case that a character looks like; otherwise the character in lower case.
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
        // A capital may look like nothing while its small letter does.
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
            assert_eq!(
                to_confusable_skeleton(one),
                to_confusable_skeleton(other),
                "{one} and {other}"
            );
        }
        assert_ne!(
            to_confusable_skeleton("Carol is leaving"),
            to_confusable_skeleton("Karl is leaving")
        );
        assert_ne!(to_confusable_skeleton("客户打算"), to_confusable_skeleton("客户不打算"));
    }

    #[test]
    fn the_shape_of_a_shape_is_itself() {
        for text in ["Carol is 10", "Саrоl уйдёт", "客户 가나다", "naïve Ωmega"] {
            assert_eq!(
                to_confusable_skeleton(&to_confusable_skeleton(text)),
                to_confusable_skeleton(text)
            );
        }
    }
}
