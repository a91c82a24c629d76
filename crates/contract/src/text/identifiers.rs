//! Identifiers of a text: names, single letters and numbers that say which one of several is meant.
//!
//! `Party A` and `party B`, `корпус А` and `корпус Б`, `甲方` and `乙方` differ in one letter and
//! are two things, so an identifier has no weight: the other text has it, or the texts differ.

use std::collections::BTreeSet;

use super::confusable::fold_confusables;
use super::fold::fold_text;
use super::numbers::extract_numbers;
use super::script::{ScriptClass, classify_script};
use super::stop_words::is_stop_word;
use super::words::split_words;

/// Single letters that are words of their own in lower case.
const LETTER_WORDS: &str = "aiаивкосуяжб";
/// Roman numerals of two letters and more that no word looks like.
const ROMAN_NUMERALS: &str = " ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx ";
/// Characters that name the parties of a Chinese text, and follow `第` in an ordinal.
const CHINESE_PARTIES: &str = "甲乙丙丁";
const CHINESE_ORDINAL: char = '第';
/// Endings of Russian names, in any case of any gender.
const RUSSIAN_ENDINGS: &[&str] = &[
    "а", "я", "у", "ю", "ы", "и", "е", "о", "ь", "й", "ой", "ей", "ом", "ем", "ам", "ям", "ах",
    "ях", "ов", "ев", "ым", "им", "ых", "их", "ая", "яя", "ый", "ий", "ую", "юю", "ого", "его",
    "ому", "ему", "ами", "ями",
];
/// Minimum length in letters of what is left of a Russian name without its ending.
const MIN_NAME_BASE: usize = 3;
/// Maximum length in letters of an ending behind an apostrophe.
const MAX_ENDING_LETTERS: usize = 2;

/// What a text names, and every word that may be meant when the other text names it.
#[derive(Debug, Default)]
pub(super) struct Identifiers {
    names: BTreeSet<String>,
    words: BTreeSet<String>,
    numbers: BTreeSet<String>,
}

impl Identifiers {
    pub(super) fn from_text(text: &str) -> Self {
        let tokens = split_tokens(text);
        let has_case = is_case_informative(&tokens);
        let mut found =
            Self { numbers: extract_numbers(text).into_iter().collect(), ..Self::default() };
        for token in &tokens {
            for form in list_forms(&token.folded) {
                found.words.insert(form);
            }
            if is_identifier(token, has_case) {
                found.names.insert(token.folded.clone());
            }
        }
        found.add_chinese_identifiers(text);
        found
    }

    /// Returns whether both texts name the same things.
    pub(super) fn agree_with(&self, other: &Self) -> bool {
        self.numbers == other.numbers && self.is_known_to(other) && other.is_known_to(self)
    }

    fn is_known_to(&self, other: &Self) -> bool {
        let known = |name: &String| list_forms(name).iter().any(|form| other.words.contains(form));
        self.names.iter().all(known)
    }

    /// Adds `甲`, `乙` and what follows `第`, which are parts of longer runs of characters.
    fn add_chinese_identifiers(&mut self, text: &str) {
        let mut before = ' ';
        for character in text.chars() {
            let ordinal = before == CHINESE_ORDINAL && !character.is_ascii();
            if ordinal || CHINESE_PARTIES.contains(character) {
                let name = if ordinal { format!("第{character}") } else { character.to_string() };
                self.words.insert(name.clone());
                self.names.insert(name);
            }
            before = character;
        }
    }
}

/// A run of letters and digits of one kind of script.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one property of the run")]
struct Token {
    folded: String,
    /// The letter, if it is the only one.
    letter: Option<char>,
    is_capitalized: bool,
    has_lower_case: bool,
    has_digit: bool,
    /// The first word of a sentence, which is capitalized whatever it is.
    is_first: bool,
    /// Beside a letter of a script without spaces or case, where a Latin letter is never a word.
    touches_dense: bool,
    is_dense: bool,
}

fn split_tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut is_first = true;
    let mut run = String::new();
    let mut run_is_dense = false;
    let mut before_is_dense = false;
    let mut rest = text.chars().chain([' ']).peekable();
    while let Some(character) = rest.next() {
        if matches!(character, '\'' | '\u{2019}') && !run.is_empty() {
            // What follows an apostrophe inside a word is an ending, as in `owner's`, or the rest of
            // a name, as in `O'Brien`.
            let mut ending = String::new();
            while let Some(letter) = rest.next_if(|next| next.is_alphanumeric()) {
                ending.push(letter);
            }
            if ending.chars().nth(MAX_ENDING_LETTERS).is_some() {
                run.push('\'');
                run.push_str(&ending);
            }
            continue;
        }
        let is_word = character.is_alphanumeric();
        let is_dense = is_word && classify_script(character) == ScriptClass::Unspaced;
        if !run.is_empty() && (!is_word || is_dense != run_is_dense) {
            let touches_dense = !run_is_dense && (before_is_dense || is_dense);
            tokens.push(Token::from_run(&run, is_first, touches_dense, run_is_dense));
            is_first = false;
            before_is_dense = run_is_dense;
            run.clear();
        }
        if is_word {
            run_is_dense = is_dense;
            run.push(character);
        } else {
            before_is_dense = false;
            is_first |= matches!(character, '.' | '?' | '!' | '\n' | '。' | '？' | '！');
        }
    }
    tokens
}

impl Token {
    fn from_run(run: &str, is_first: bool, touches_dense: bool, is_dense: bool) -> Self {
        Self {
            folded: if run.chars().nth(1).is_none() {
                // The letter of one keyboard and its twin of another are the same letter.
                fold_confusables(run)
            } else {
                fold_text(run)
            },
            letter: run.chars().next().filter(|one| one.len_utf8() == run.len()),
            is_capitalized: run.chars().next().is_some_and(char::is_uppercase),
            has_lower_case: run.chars().any(char::is_lowercase),
            has_digit: run.chars().any(|character| character.is_ascii_digit()),
            is_first,
            touches_dense,
            is_dense,
        }
    }
}

/// Returns whether capitals show names: not in a text in capitals, nor in a title in which small
/// words are capitalized too.
fn is_case_informative(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.has_lower_case)
        && !tokens.iter().any(|token| {
            token.is_capitalized
                && token.has_lower_case
                && !token.is_first
                && token.folded.is_ascii()
                && is_stop_word(&token.folded)
        })
}

fn is_identifier(token: &Token, has_case: bool) -> bool {
    if token.is_dense {
        return false;
    }
    if token.has_digit {
        // Plain numbers are compared by value.
        return !token.folded.bytes().all(|byte| byte.is_ascii_digit());
    }
    if let Some(letter) = token.letter {
        let is_word = letter.to_lowercase().any(|lower| LETTER_WORDS.contains(lower));
        let shows_case = has_case && token.is_capitalized && !token.is_first && letter != 'I';
        return token.touches_dense || shows_case || !is_word;
    }
    if ROMAN_NUMERALS.contains(&format!(" {} ", token.folded)) {
        return true;
    }
    let names = has_case && token.is_capitalized && !token.is_first;
    names && !split_words(&token.folded).iter().all(|stem| is_stop_word(stem))
}

/// Returns the forms under which a word is found again: as it is, its stem, and a Russian name
/// without each ending that it can have.
fn list_forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    forms.extend(split_words(word).into_iter().filter(|stem| stem != word));
    if word.chars().any(|character| classify_script(character) == ScriptClass::Cyrillic) {
        let bases = RUSSIAN_ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
        let long = bases.filter(|base| base.chars().count() >= MIN_NAME_BASE);
        forms.extend(long.map(str::to_owned));
    }
    forms
}
