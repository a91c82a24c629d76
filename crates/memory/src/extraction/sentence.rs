//! Finds the sentence that contains a quote. A few words can say the opposite of the whole
//! sentence: `I am not …`.

/// Returns the sentences of a text that contain the given words verbatim; `None` if the text does
/// not contain them.
#[must_use]
pub fn find_sentence<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let from = text.find(words).filter(|_| !words.is_empty())?;
    let to = from + words.len();
    let start = text[..from].char_indices().rev().find_map(|(at, character)| {
        let behind = at + character.len_utf8();
        ends_sentence(character, text[behind..].chars().next()).then_some(behind)
    });
    let last = text[..to].chars().next_back();
    let is_done = last.is_some_and(|character| ends_sentence(character, text[to..].chars().next()));
    let end = text[to..].char_indices().find_map(|(at, character)| {
        let behind = to + at + character.len_utf8();
        ends_sentence(character, text[behind..].chars().next()).then_some(behind)
    });
    let end = if is_done { to } else { end.unwrap_or(text.len()) };
    Some(text[start.unwrap_or(0)..end].trim())
}

/// Returns whether a sentence ends after this character.
fn ends_sentence(character: char, next: Option<char>) -> bool {
    match character {
        '\n' | '。' | '！' | '？' | '．' => true,
        '.' | '!' | '?' | '…' => next.is_none_or(char::is_whitespace),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, words: &str, expected: Option<&str>) {
        assert_eq!(find_sentence(text, words), expected);
    }

    #[test]
    fn what_stands_around_the_words_belongs_to_them() {
        let text = "Hi! I am not vegetarian. Version 1.5 is out\nI am. 我不吃肉。我住在巴黎。";
        check(text, "vegetarian", Some("I am not vegetarian."));
        check(text, "am not", Some("I am not vegetarian."));
        check(text, "I am not vegetarian.", Some("I am not vegetarian."));
        check(text, "1.5", Some("Version 1.5 is out"));
        check(text, "吃肉", Some("我不吃肉。"));
        check(text, "我住在巴黎。", Some("我住在巴黎。"));
        check(text, "Hi! I", Some("Hi! I am not vegetarian."));
        check(text, "vegan", None);
        check(text, "", None);
    }
}
