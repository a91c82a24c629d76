//! A text as its words: folded, without endings, in the order they stand.
//!
//! Words that carry little (`the`, `и`) are words here: who has no use for them leaves them out.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::char::is_combining_mark;

use super::fold::fold;
use super::script::{Script, script};

/// Nothing longer is a word of a language, so it keeps its ending.
const LONGEST_STEMMED: usize = 64;

/// The words of a text in any script, each as its stem.
///
/// Latin words lose their English endings, Cyrillic ones their Russian endings. Chinese, Japanese,
/// Korean, Thai and their like are read as overlapping pairs of characters; a character that stands
/// alone stays so. Digits are words too, or parts of them.
///
/// ```
/// use countersign_core::text::words;
///
/// assert_eq!(words("The Contracts’ prices: 12"), ["the", "contract", "price", "12"]);
/// assert_eq!(words("合同价格"), ["合同", "同价", "价格"]);
/// ```
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    words_beginning(text, |_| true)
}

/// The same words, but only those that begin so. An ending is taken from a word, never its beginning: one
/// that begins otherwise need not be looked at.
///
/// ```
/// use countersign_core::text::words_beginning;
///
/// assert_eq!(words_beginning("The Contracts’ prices", |first| first == 'p'), ["price"]);
/// ```
#[must_use]
pub fn words_beginning(text: &str, begins: impl Fn(char) -> bool) -> Vec<String> {
    let folded = fold(text);
    let mut words = Vec::new();
    let mut rest = folded.as_str();
    while let Some((start, first)) = rest.char_indices().find(|(_, sign)| is_part(*sign)) {
        rest = &rest[start..];
        let dense = script(first) == Script::Dense;
        let end = run_end(rest, dense);
        let (run, behind) = rest.split_at(end);
        if dense {
            pairs(run, &begins, &mut words);
        } else if begins(first) {
            words.push(stem(run));
        }
        rest = behind;
    }
    words
}

/// Whether a folded character is a letter or a digit. Most texts are made of those that need no table.
fn is_part(character: char) -> bool {
    is_plain(character) || (!character.is_ascii() && character.is_alphanumeric())
}

/// Letters and digits that no mark is among.
fn is_plain(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | 'а'..='я' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Where the word that begins the text ends: at the first character that is no part of it.
fn run_end(text: &str, dense: bool) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let inside = if character == '\'' {
            // `owner's` is one word; quotation marks round a word are none of it.
            !dense && characters.peek().is_some_and(|(_, next)| next.is_alphabetic())
        } else if !is_plain(character) && is_combining_mark(character) {
            true
        } else {
            is_part(character) && (script(character) == Script::Dense) == dense
        };
        if !inside {
            return at;
        }
    }
    text.len()
}

/// Every two neighbours of a run; marks stay with the character they stand on.
fn pairs(run: &str, begins: impl Fn(char) -> bool, words: &mut Vec<String>) {
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

fn stem(word: &str) -> String {
    if word.len() > LONGEST_STEMMED {
        return word.to_owned();
    }
    let all = |wanted: Script| {
        word.chars().all(|character| character == '\'' || script(character) == wanted)
    };
    let algorithm = if all(Script::Latin) {
        Algorithm::English
    } else if all(Script::Cyrillic) {
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
        assert_eq!(words(text), expected, "{text}");
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
        let plain = ('\0'..=char::MAX).filter(|character| is_plain(*character));
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
            let all = words(&text).into_iter();
            let some = all.filter(|word| word.chars().next().is_some_and(begins));
            prop_assert_eq!(words_beginning(&text, begins), some.collect::<Vec<_>>());
        }
    }

    #[test]
    fn nothing_has_no_words() {
        check("", &[]);
        check(" … — 😀 ''", &[]);
        check("\u{301}", &[]);
    }
}
