//! Word splitting: the words of a text, folded and stemmed, in order.
//!
//! Words that carry little meaning (`the`, `и`) are included; callers that do not need them filter
//! them out.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::is_combining_mark;

use super::fold::fold_text;
use super::script::{ScriptClass, classify_script};

/// Maximum length of a stemmed word, in bytes. Longer words are not natural language and keep their
/// ending.
const MAX_STEMMED_BYTES: usize = 64;

/// Returns the words of a text in any script, each as its stem.
///
/// Latin words lose their English endings, Cyrillic words their Russian endings. Chinese, Japanese,
/// Korean, Thai and similar scripts are split into overlapping pairs of characters; a single
/// character is one word. Digits are words too, or parts of words.
///
/// ```
/// use countersign_contract::text::split_words;
///
/// assert_eq!(split_words("The Contracts’ prices: 12"), ["the", "contract", "price", "12"]);
/// assert_eq!(split_words("合同价格"), ["合同", "同价", "价格"]);
/// ```
#[must_use]
pub fn split_words(text: &str) -> Vec<String> {
    split_words_starting(text, |_| true)
}

/// Returns the words of [`split_words`] whose first character satisfies `begins`. Stemming changes
/// only the end of a word, so other words are skipped before stemming.
///
/// ```
/// use countersign_contract::text::split_words_starting;
///
/// assert_eq!(split_words_starting("The Contracts’ prices", |first| first == 'p'), ["price"]);
/// ```
#[must_use]
pub fn split_words_starting(text: &str, begins: impl Fn(char) -> bool) -> Vec<String> {
    let folded = fold_text(text);
    let mut words = Vec::new();
    let mut rest = folded.as_str();
    while let Some((start, first)) = rest.char_indices().find(|(_, sign)| is_word_char(*sign)) {
        rest = &rest[start..];
        let dense = classify_script(first) == ScriptClass::Unspaced;
        let end = find_word_end(rest, dense);
        let (run, behind) = rest.split_at(end);
        if dense {
            push_bigrams(run, &begins, &mut words);
        } else if begins(first) {
            words.push(stem_word(run));
        }
        rest = behind;
    }
    words
}

/// Returns whether a folded character is a letter or a digit. Most characters need no table lookup.
fn is_word_char(character: char) -> bool {
    is_unmarked_char(character) || (!character.is_ascii() && character.is_alphanumeric())
}

/// Returns whether a character is in a range of letters and digits without combining marks.
fn is_unmarked_char(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | 'а'..='я' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Returns the end of the word that starts the text: the first character that is not part of it.
fn find_word_end(text: &str, dense: bool) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let inside = if character == '\'' {
            // `owner's` is one word; quotation marks around a word are not part of it.
            !dense && characters.peek().is_some_and(|(_, next)| next.is_alphabetic())
        } else if !is_unmarked_char(character) && is_combining_mark(character) {
            true
        } else {
            is_word_char(character)
                && (classify_script(character) == ScriptClass::Unspaced) == dense
        };
        if !inside {
            return at;
        }
    }
    text.len()
}

/// Appends every two adjacent characters of a run; combining marks stay with their base character.
fn push_bigrams(run: &str, begins: impl Fn(char) -> bool, words: &mut Vec<String>) {
    let starts = run.char_indices().filter(|(_, character)| !is_combining_mark(*character));
    let mut ends: Vec<usize> = starts.map(|(at, _)| at).collect();
    ends.push(run.len());
    let mut add = |from: usize, to: usize| {
        if run[from..to].chars().next().is_some_and(&begins) {
            words.push(run[from..to].to_owned());
        }
    };
    match ends[..] {
        [from, to] => add(from, to),
        _ => ends.windows(3).for_each(|pair| add(pair[0], pair[2])),
    }
}

fn stem_word(word: &str) -> String {
    if word.len() > MAX_STEMMED_BYTES {
        return word.to_owned();
    }
    let all = |wanted: ScriptClass| {
        word.chars().all(|character| character == '\'' || classify_script(character) == wanted)
    };
    let algorithm = if all(ScriptClass::Latin) {
        Algorithm::English
    } else if all(ScriptClass::Cyrillic) {
        Algorithm::Russian
    } else {
        return word.to_owned();
    };
    Stemmer::create(algorithm).stem(word).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(split_words(text), expected, "{text}");
    }

    #[test]
    fn endings_do_not_count() {
        check("Contracts, contract; CONTRACTED!", &["contract", "contract", "contract"]);
        check("договор договора Договорами", &["договор", "договор", "договор"]);
        check("the owner’s 'price'", &["the", "owner", "price"]);
    }

    #[test]
    fn scripts_without_spaces_are_read_in_pairs() {
        check("合同价格", &["合同", "同价", "价格"]);
        check("价", &["价"]);
        check("계약 가격은?", &["계약", "가격", "격은"]);
        check("契約の価格", &["契約", "約の", "の価", "価格"]);
        check("iPhone手机2台", &["iphon", "手机", "2", "台"]);
        check("ราคา", &["รา", "าค", "คา"]);
        check("𠮷野家", &["𠮷野", "野家"]);
    }

    #[test]
    fn digits_and_names_stay() {
        check("Clause 4.2, A4 and 2nd", &["claus", "4", "2", "a4", "and", "2nd"]);
        check("１２ ₽ 50%", &["12", "50"]);
        check("snake_case e-mail", &["snake", "case", "e", "mail"]);
    }

    #[test]
    fn other_scripts_are_read_by_their_spaces() {
        check("सही उत्तर", &["सही", "उत्तर"]);
        check("شروط العقد", &["شروط", "العقد"]);
        check("όροι ΌΡΟΙ", &["όροι", "όροι"]);
    }

    #[test]
    fn what_needs_no_table_is_what_the_tables_say() {
        let plain = ('\0'..=char::MAX).filter(|character| is_unmarked_char(*character));
        let sound = |one: &char| one.is_alphanumeric() && !is_combining_mark(*one);
        assert_eq!(plain.filter(|one| !sound(one)).collect::<Vec<char>>(), Vec::<char>::new());
    }

    proptest! {
        #[test]
        fn words_keep_their_beginning(
            text in "([a-zA-Z'’]{1,9}|[а-яё]{1,9}|[合同价格]{1,4}|가격|\\PC{0,6}|[ ,.]){0,12}",
            part in 1_u32..4,
        ) {
            let begins = |first: char| u32::from(first) % 4 < part;
            let all = split_words(&text).into_iter();
            let some = all.filter(|word| word.chars().next().is_some_and(begins));
            prop_assert_eq!(split_words_starting(&text, begins), some.collect::<Vec<_>>());
        }
    }

    #[test]
    fn nothing_has_no_words() {
        check("", &[]);
        check(" … — 😀 ''", &[]);
        check("\u{301}", &[]);
    }
}
