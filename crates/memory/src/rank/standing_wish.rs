//! Recognizes standing wishes: what a person wants from now on, whatever is asked.
//!
//! "Always give me dimensions in centimetres" shares no word with the questions that it is about.
//! Such a message to an assistant has a term of its own, which every query contains.

/// The term of messages with a standing wish. No word begins with `@`.
pub(super) const STANDING_WISH_TERM: &str = "@wish";

/// How a sentence with a standing wish begins, in lower case.
const BEGINNINGS: [&str; 16] = [
    "always ",
    "please always ",
    "never ",
    "please never ",
    "from now on",
    "whenever you ",
    "every time you ",
    "when you ",
    "in future",
    "in the future",
    "going forward",
    "remember that i ",
    "remember, i ",
    "keep in mind that i ",
    "всегда ",
    "никогда не ",
];

/// Phrases that make a sentence a standing wish wherever they stand, in lower case.
const PHRASES: [&str; 40] = [
    "i prefer ",
    "i'd prefer ",
    "i would prefer ",
    "i'd rather ",
    "i would rather ",
    "please don't ever",
    "please do not ever",
    "please always ",
    "please never ",
    "always use ",
    "always include ",
    "always give me",
    "always explain",
    "make sure you always",
    "make sure to always",
    "from now on",
    "whenever i ask",
    "when i ask",
    "every time i ask",
    "я предпочитаю",
    "предпочитаю ",
    "впредь ",
    "с этого момента",
    "имей в виду",
    "имейте в виду",
    "запомни,",
    "每次都",
    "以后请",
    "请记住",
    "我更喜欢",
    "我喜欢",
    "一律",
    "앞으로",
    "항상",
    "선호",
    "ich bevorzuge",
    "am liebsten",
    "ab jetzt",
    "ab sofort",
    "bitte immer",
];

/// Returns whether a text says what its writer wants from now on.
pub(super) fn expresses_standing_wish(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    let mut sentences = text.split(['.', '!', '?', '\n', ';', ':', '。', '！', '？']);
    sentences.any(|sentence| {
        let sentence = sentence.trim_start();
        BEGINNINGS.iter().any(|beginning| sentence.starts_with(beginning))
            || PHRASES.iter().any(|phrase| sentence.contains(phrase))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_recognized_in_five_languages() {
        for wish in [
            "Please always give me dimensions in centimetres.",
            "By the way: I’d rather get short answers.",
            "From now on, leave the citations as placeholders.",
            "Whenever I ask about code, add a test.",
            "Всегда пиши цены в рублях.",
            "Я предпочитаю делать своими руками.",
            "以后请用表格。",
            "앞으로 메뉴 이름은 사투리로 적어 주세요.",
            "Ich bevorzuge Listen.",
        ] {
            assert!(expresses_standing_wish(wish), "{wish}");
        }
        for other in [
            "I always wanted to see the sea.",
            "She has never been there.",
            "Он никогда не опаздывает.",
            "我昨天去了公园。",
        ] {
            assert!(!expresses_standing_wish(other), "{other}");
        }
    }
}
