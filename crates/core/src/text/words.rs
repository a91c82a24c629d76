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
    let folded = fold(text);
    let mut words = Vec::new();
    let mut rest = folded.as_str();
    while let Some(start) = rest.find(char::is_alphanumeric) {
        rest = &rest[start..];
        let dense = is_dense(rest);
        let end = run_end(rest, dense);
        let (run, behind) = rest.split_at(end);
        if dense {
            pairs(run, &mut words);
        } else {
            words.push(stem(run));
        }
        rest = behind;
    }
    words
}

fn is_dense(text: &str) -> bool {
    text.chars().next().is_some_and(|first| script(first) == Script::Dense)
}

/// Where the word that begins the text ends: at the first character that is no part of it.
fn run_end(text: &str, dense: bool) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let inside = if character == '\'' {
            // `owner's` is one word; quotation marks round a word are none of it.
            !dense && characters.peek().is_some_and(|(_, next)| next.is_alphabetic())
        } else if is_combining_mark(character) {
            true
        } else {
            character.is_alphanumeric() && (script(character) == Script::Dense) == dense
        };
        if !inside {
            return at;
        }
    }
    text.len()
}

/// Every two neighbours of a run; marks stay with the character they stand on.
fn pairs(run: &str, words: &mut Vec<String>) {
    let starts = run.char_indices().filter(|(_, character)| !is_combining_mark(*character));
    let mut ends: Vec<usize> = starts.map(|(at, _)| at).collect();
    ends.push(run.len());
    match ends[..] {
        [from, to] => words.push(run[from..to].to_owned()),
        _ => words.extend(ends.windows(3).map(|pair| run[pair[0]..pair[2]].to_owned())),
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
    fn nothing_has_no_words() {
        check("", &[]);
        check(" … — 😀 ''", &[]);
        check("\u{301}", &[]);
    }
}
