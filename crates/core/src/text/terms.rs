//! What a text is about: its words without fillers, and what it asks for.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::asks::{self, Ask};
use super::fillers::{self, is_filler, without_ending};
use super::fold::fold;
use super::script::{Script, script};
use super::words::words;

/// Fillers and asks of scripts without spaces, longest first: `什么时候` is no `什么`.
static PHRASES: LazyLock<Vec<(&str, Option<Ask>)>> = LazyLock::new(|| {
    let fillers = fillers::PHRASES.iter().map(|phrase| (*phrase, None));
    let asks = asks::PHRASES.iter().map(|(ask, phrase)| (*phrase, Some(*ask)));
    let mut all: Vec<_> = fillers.chain(asks).collect();
    all.sort_by_key(|(phrase, _)| (std::cmp::Reverse(phrase.len()), *phrase));
    all
});

/// A text as similarity compares it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) words: BTreeSet<String>,
    pub(super) asks: BTreeSet<Ask>,
    pub(super) numbers: BTreeSet<String>,
}

impl Terms {
    pub(super) fn of(text: &str) -> Self {
        let mut terms = Self::default();
        let mut folded = fold(text);
        if !folded.is_ascii() {
            folded = terms.without_phrases(folded);
        }
        let all = words(&folded);
        for (at, word) in all.iter().enumerate() {
            let next = all.get(at + 1).map_or("", String::as_str);
            if word.starts_with(|first: char| first.is_ascii_digit()) {
                terms.numbers.insert(word.clone());
            } else if let Some(ask) = Ask::of(word) {
                terms.asks.extend((!is_idle(word, next)).then_some(ask));
            } else if !is_filler(word) {
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
    pub(super) fn strangers<'t>(&'t self, other: &'t Self) -> Vec<&'t String> {
        let dense = |character: &char| script(*character) == Script::Dense;
        let known: BTreeSet<char> =
            other.words.iter().flat_map(|word| word.chars()).filter(dense).collect();
        let is_seam = |word: &&String| word.chars().all(|character| known.contains(&character));
        self.words.difference(&other.words).filter(|word| !is_seam(word)).collect()
    }

    /// Puts a space in place of every phrase and particle of a script that has none.
    fn without_phrases(&mut self, mut text: String) -> String {
        for (phrase, ask) in PHRASES.iter() {
            if text.contains(phrase) {
                self.asks.extend(*ask);
                text = text.replace(phrase, " ");
            }
        }
        let words = text.split(|character: char| !character.is_alphanumeric() && character != '\'');
        words.map(without_ending).collect::<Vec<_>>().join(" ")
    }
}

/// Whether a word that could ask does not, before the one that follows.
fn is_idle(word: &str, next: &str) -> bool {
    match word {
        // "How much is" asks as "what is" does; "how many" and "how long" say it themselves.
        "how" => matches!(next, "much" | "mani" | "long"),
        // "Не подскажете…" is courtesy, not a negation.
        "не" => is_filler(next),
        _ => false,
    }
}
