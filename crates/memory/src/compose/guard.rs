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
}

impl Guard {
    /// What must not be seen for this purpose.
    pub(super) fn of(purpose: Purpose, found: &Found) -> Self {
        if purpose != Purpose::Responder {
            return Self::default();
        }
        let guesses = found.insights.iter().map(|scored| &scored.row);
        let secret = guesses.filter(|guess| guess.validation != ValidationState::Validated);
        Self { guesses: secret.map(|guess| normal(&guess.statement)).collect() }
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
        self.guesses.iter().any(|guess| {
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
        self.guesses.iter().any(|guess| stands_in(guess, &text))
    }
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
