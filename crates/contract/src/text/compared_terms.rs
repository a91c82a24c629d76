//! Terms of a text that similarity compares: words without stop words, question kinds and numbers.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::fold::fold_text;
use super::question_kind::{self, QuestionKind};
use super::script::{ScriptClass, classify_script};
use super::stop_words::{self, is_stop_word, strip_korean_ending};
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
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ComparedTerms {
    pub(super) words: BTreeSet<String>,
    pub(super) question_kinds: BTreeSet<QuestionKind>,
    pub(super) numbers: BTreeSet<String>,
}

impl ComparedTerms {
    pub(super) fn from_text(text: &str) -> Self {
        let mut terms = Self::default();
        let mut folded = fold_text(text);
        if !folded.is_ascii() {
            folded = terms.strip_phrases(folded);
        }
        let all = split_words(&folded);
        for (at, word) in all.iter().enumerate() {
            let next = all.get(at + 1).map_or("", String::as_str);
            if word.starts_with(|first: char| first.is_ascii_digit()) {
                terms.numbers.insert(word.clone());
            } else if let Some(ask) = QuestionKind::from_stem(word) {
                terms.question_kinds.extend((!is_not_asking(word, next)).then_some(ask));
            } else if !is_stop_word(word) {
                terms.words.insert(word.clone());
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
    fn strip_phrases(&mut self, mut text: String) -> String {
        for (phrase, ask) in DROPPED_PHRASES.iter() {
            if text.contains(phrase) {
                self.question_kinds.extend(*ask);
                text = text.replace(phrase, " ");
            }
        }
        let words = text.split(|character: char| !character.is_alphanumeric() && character != '\'');
        words.map(strip_korean_ending).collect::<Vec<_>>().join(" ")
    }
}

/// Returns whether a word that can be a question word is not one before the word that follows.
fn is_not_asking(word: &str, next: &str) -> bool {
    match word {
        // "How much is" asks the same as "what is"; "how many" and "how long" have their own kinds.
        "how" => matches!(next, "much" | "mani" | "long"),
        // "Не подскажете…" is a courtesy, not a negation.
        "не" => is_stop_word(next),
        _ => false,
    }
}
