//! Keeps the words of guesses that nobody validated from a responder, wherever they stand: in a
//! summary, an episode, a message of a model, a citation.
//!
//! Words that a user said or a tool gave are theirs, even where a guess says the same.

use countersign_contracts::memory::insight::ValidationState;
use countersign_contracts::memory::meta::Purpose;

use super::evidence::{Evidences, Witness};
use super::normal::{holds, normal};
use crate::Found;
use crate::record::{Event, Origin};

/// A shorter guess is looked for only as a whole text: `yes` stands everywhere.
const SHORTEST: usize = 8;

/// The guesses that must not be seen.
#[derive(Debug, Default)]
pub(super) struct Guard {
    guesses: Vec<String>,
    begins: Begins,
}

impl Guard {
    /// What must not be seen for this purpose.
    pub(super) fn of(purpose: Purpose, found: &Found) -> Self {
        if purpose != Purpose::Responder {
            return Self::default();
        }
        let guesses = found.insights.iter().map(|scored| &scored.row).chain(&found.guesses);
        let secret = guesses.filter(|guess| guess.validation != ValidationState::Validated);
        let guesses: Vec<String> = secret.map(|guess| normal(&guess.statement)).collect();
        let begins = Begins::of(&guesses);
        Self { guesses, begins }
    }

    /// Of how many guesses the words are kept back.
    pub(super) fn len(&self) -> usize {
        self.guesses.len()
    }

    /// Whether a text says what a guess says, and no evidence of a user or a tool does.
    pub(super) fn withholds<'s>(
        &self,
        text: &str,
        sources: &(impl Iterator<Item = &'s String> + Clone),
        evidences: &Evidences<'_>,
    ) -> bool {
        if self.guesses.is_empty() {
            return false;
        }
        let text = normal(text);
        self.begins.may_stand_in(&text)
            && self.guesses.iter().any(|guess| {
                stands_in(guess, &text)
                    && !sources
                        .clone()
                        .filter_map(|source| evidences.find(source))
                        .any(|cited| said(&cited) && stands_in(guess, &normal(cited.text)))
            })
    }

    /// Whether an event is the words of a guess.
    pub(super) fn withholds_event(&self, cited: &Witness<'_>) -> bool {
        if self.guesses.is_empty() || said(cited) {
            return false;
        }
        let text = normal(cited.text);
        self.begins.may_stand_in(&text) && self.guesses.iter().any(|it| stands_in(it, &text))
    }
}

/// How guesses begin: a text is gone through once for all of them, and most hold none.
#[derive(Debug)]
struct Begins {
    /// The first bytes of each, ascending.
    bytes: Vec<u64>,
    /// A bit is set where such bytes may be.
    bits: [u64; 64],
}

impl Begins {
    fn of(guesses: &[String]) -> Self {
        let mut begins = Self::default();
        for guess in guesses.iter().filter(|guess| guess.len() >= SHORTEST) {
            let first = guess.bytes().take(SHORTEST).fold(0, next);
            begins.bytes.push(first);
            begins.bits[bit(first) / 64] |= 1 << (bit(first) % 64);
        }
        begins.bytes.sort_unstable();
        begins
    }

    /// Whether a text may hold a guess, or be one that is too short to be looked for.
    fn may_stand_in(&self, text: &str) -> bool {
        let mut last = 0;
        text.len() < SHORTEST
            || text.bytes().any(|byte| {
                last = next(last, byte);
                self.bits[bit(last) / 64] >> (bit(last) % 64) & 1 == 1
                    && self.bytes.binary_search(&last).is_ok()
            })
    }
}

impl Default for Begins {
    fn default() -> Self {
        Self { bytes: Vec::new(), bits: [0; 64] }
    }
}

/// The last eight bytes: as many as the shortest guess that is looked for has.
fn next(last: u64, byte: u8) -> u64 {
    last << 8 | u64::from(byte)
}

/// Which of 4,096 bits.
fn bit(bytes: u64) -> usize {
    (bytes.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize
}

/// A guess as it is looked for in texts.
pub(crate) fn guess(statement: &str) -> String {
    normal(statement)
}

/// Whether an event is the words of one of these guesses, and not of a user or a tool.
pub(crate) fn tells_guess(guesses: &[String], event: &Event) -> bool {
    let theirs = matches!(event.origin, Origin::User | Origin::Tool);
    !theirs && words_of_guess(guesses, &event.text)
}

/// Whether a text holds the words of one of these guesses.
pub(crate) fn words_of_guess(guesses: &[String], text: &str) -> bool {
    let text = normal(text);
    guesses.iter().any(|guess| stands_in(guess, &text))
}

fn said(cited: &Witness<'_>) -> bool {
    matches!(cited.origin, Origin::User | Origin::Tool)
}

fn stands_in(guess: &str, text: &str) -> bool {
    text == guess || (guess.len() >= SHORTEST && holds(text, guess))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_with_a_guess_in_it_is_passed_over() {
        let told =
            ["yes", "bob may like tofu", "客户打算更换供应商", "клиент уйдёт", "bob may like tea"];
        let guesses: Vec<String> = told.iter().map(|text| normal(text)).collect();
        let begins = Begins::of(&guesses);
        let around =
            ["", "I think that ", "說", "a b c d e f g h i j k l m n o p q r s t u v w x y z "];
        for guess in &guesses {
            for before in around {
                let text = normal(&format!("{before}{guess}. {before}"));
                assert!(
                    !stands_in(guess, &text) || begins.may_stand_in(&text),
                    "{guess} in {text}"
                );
            }
            assert!(begins.may_stand_in(guess), "{guess}");
        }
        assert!(!begins.may_stand_in("nobody may like tofuburgers at all"));
        assert!(!begins.may_stand_in("the client goes on as before"));
    }
}
