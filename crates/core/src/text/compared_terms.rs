//! What a text is about: its words without fillers, and what it asks for.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::fold::fold_text;
use super::question_kind::{self, QuestionKind};
use super::script::{ScriptClass, classify_script};
use super::stop_words::{self, is_stop_word, strip_korean_ending};
use super::words::split_words;

/// Fillers and asks of scripts without spaces, longest first: `什么时候` is no `什么`.
static DROPPED_PHRASES: LazyLock<Vec<(&str, Option<QuestionKind>)>> = LazyLock::new(|| {
    let fillers = stop_words::STOP_PHRASES.iter().map(|phrase| (*phrase, None));
    let asks = question_kind::QUESTION_PHRASES.iter().map(|(ask, phrase)| (*phrase, Some(*ask)));
    let mut all: Vec<_> = fillers.chain(asks).collect();
    all.sort_by_key(|(phrase, _)| (std::cmp::Reverse(phrase.len()), *phrase));
    all
});

/// A text as similarity compares it.
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

    /// Whether the text names nothing: it only asks, or says nothing at all.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.numbers.is_empty()
    }

    /// The words that the other text does not have.
    ///
    /// A pair of characters that the other has apart is left out: it is only the seam between two
    /// words that stand side by side here and not there.
    pub(super) fn words_missing_in<'t>(&'t self, other: &'t Self) -> Vec<&'t String> {
        let dense = |character: &char| classify_script(*character) == ScriptClass::Unspaced;
        let known: BTreeSet<char> =
            other.words.iter().flat_map(|word| word.chars()).filter(dense).collect();
        let is_seam = |word: &&String| word.chars().all(|character| known.contains(&character));
        self.words.difference(&other.words).filter(|word| !is_seam(word)).collect()
    }

    /// Puts a space in place of every phrase and particle of a script that has none.
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

/// Whether a word that could ask does not, before the one that follows.
fn is_not_asking(word: &str, next: &str) -> bool {
    match word {
        // "How much is" asks as "what is" does; "how many" and "how long" say it themselves.
        "how" => matches!(next, "much" | "mani" | "long"),
        // "Не подскажете…" is courtesy, not a negation.
        "не" => is_stop_word(next),
        _ => false,
    }
}
