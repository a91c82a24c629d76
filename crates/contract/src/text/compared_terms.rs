//! Terms of a text that similarity compares: words without stop words, question kinds and numbers.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::fold::fold_text;
use super::identifiers::Identifiers;
use super::question_kind::{self, QuestionKind};
use super::script::{ScriptClass, classify_script};
use super::stop_words::{self, is_courtesy_word, is_stop_word, strip_korean_ending, unify_synonym};
use super::words::split_words;

/// Stop phrases and question phrases of scripts without spaces, longest first, so that `什么时候` is
/// not matched as `什么`.
static DROPPED_PHRASES: LazyLock<Vec<(&str, Option<QuestionKind>)>> = LazyLock::new(|| {
    let fillers = stop_words::STOP_PHRASES.iter().map(|phrase| (*phrase, None));
    let asks = question_kind::QUESTION_PHRASES.iter().map(|(ask, phrase)| (*phrase, Some(*ask)));
    let mut all: Vec<_> = fillers.chain(asks).collect();
    all.sort_by_key(|(phrase, _)| (std::cmp::Reverse(phrase.len()), *phrase));
    all
});

/// Text in the form that similarity compares.
#[derive(Debug, Default)]
pub(super) struct ComparedTerms {
    pub(super) words: BTreeSet<String>,
    pub(super) question_kinds: BTreeSet<QuestionKind>,
    pub(super) numbers: BTreeSet<String>,
    pub(super) identifiers: Identifiers,
}

impl ComparedTerms {
    pub(super) fn from_text(text: &str) -> Self {
        let mut terms = Self { identifiers: Identifiers::from_text(text), ..Self::default() };
        let mut folded = replace_same_phrases(fold_text(text));
        if !folded.is_ascii() {
            folded = terms.strip_phrases(&folded);
        }
        let all = split_words(&folded);
        for (at, word) in all.iter().enumerate() {
            let next = all.get(at + 1).map_or("", String::as_str);
            if word.starts_with(|first: char| first.is_ascii_digit()) {
                terms.numbers.insert(word.clone());
            } else if word.ends_with("n't") {
                terms.question_kinds.insert(QuestionKind::Negation);
            } else if let Some(ask) = QuestionKind::from_stem(word) {
                terms.question_kinds.extend((!is_not_asking(word, next)).then_some(ask));
            } else if !is_stop_word(word) {
                terms.words.insert(unify_synonym(word).to_owned());
            }
        }
        terms
    }

    /// Returns whether the text has no words and no numbers: it only asks, or is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.numbers.is_empty()
    }

    /// Returns the words that the other text does not have.
    ///
    /// A pair of characters is skipped if the other text has both characters separately: it only
    /// marks the boundary between two words that are adjacent here but not there.
    pub(super) fn words_missing_in<'t>(&'t self, other: &'t Self) -> Vec<&'t String> {
        let dense = |character: &char| classify_script(*character) == ScriptClass::Unspaced;
        let known: BTreeSet<char> =
            other.words.iter().flat_map(|word| word.chars()).filter(dense).collect();
        let is_seam = |word: &&String| word.chars().all(|character| known.contains(&character));
        self.words.difference(&other.words).filter(|word| !is_seam(word)).collect()
    }

    /// Replaces the stop and question phrases of scripts without spaces with a space, and strips
    /// Korean endings.
    fn strip_phrases(&mut self, text: &str) -> String {
        let mut text = join_chinese_alternatives(text);
        for (phrase, ask) in DROPPED_PHRASES.iter() {
            if text.contains(phrase) {
                self.question_kinds.extend(*ask);
                text = text.replace(phrase, " ");
            }
        }
        let words = text.split(|character: char| !character.is_alphanumeric() && character != '\'');
        let mut kept = Vec::new();
        for word in words {
            match QuestionKind::from_korean_word(word) {
                Some(ask) => _ = self.question_kinds.insert(ask),
                None => kept.push(strip_korean_ending(word)),
            }
        }
        kept.join(" ")
    }
}

/// Replaces each phrase that has a shorter form with the same meaning.
fn replace_same_phrases(mut text: String) -> String {
    for (phrase, short) in stop_words::SAME_PHRASES {
        if text.contains(phrase) {
            text = text.replace(phrase, short);
        }
    }
    // At the end of a question, `多少` asks for the value of what stands before it.
    let end = text.trim_end_matches(|character: char| !character.is_alphanumeric()).len();
    if let Some(before) = text[..end].strip_suffix("多少") {
        text.truncate(before.len());
    }
    text
}

/// Replaces the Chinese question `X不X` by `X`: `需不需要` asks the same as `需要吗` and negates
/// nothing.
fn join_chinese_alternatives(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut before = None;
    while let Some(character) = characters.next() {
        if matches!(character, '不' | '没')
            && before.is_some()
            && characters.peek() == before.as_ref()
        {
            characters.next();
            continue;
        }
        before = (classify_script(character) == ScriptClass::Unspaced).then_some(character);
        joined.push(character);
    }
    joined
}

/// Returns whether a word that can be a question word is not one before the word that follows.
fn is_not_asking(word: &str, next: &str) -> bool {
    match word {
        // "How much is" asks the same as "what is"; "how many" and "how long" have their own kinds.
        "how" => matches!(next, "much" | "mani" | "long"),
        // "Не подскажете…" is a courtesy; "не нужен" is a negation.
        "не" => is_courtesy_word(next),
        _ => false,
    }
}
