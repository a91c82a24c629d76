//! Keeps guesses that nobody validated from a responder, wherever they stand: in a summary, an episode,
//! a message of a model, a citation.
//!
//! The first line goes by provenance: what was written by somebody who had been shown a guess is kept
//! back until the guess is validated, in whatever words it is written; so is whatever rests on it. The
//! second goes by words, for what has no provenance: the shape of a guess in a text, its words in
//! another order close together, or shared out over two messages that follow each other. Words that a
//! user said or a tool gave are theirs, even where a guess says the same.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::insight::ValidationState;
use countersign_contracts::memory::meta::Purpose;
use countersign_core::text::shape;

use super::evidence::{Evidences, Witness};
use super::normal::{holds, normal};
use super::scattered::Scattered;
use crate::Found;
use crate::record::{Event, Origin};

/// A shorter guess is looked for only as a whole text: `yes` stands everywhere.
const SHORTEST: usize = 8;

/// Two messages of one speaker that so many positions lie between are read as one: an answer of the other
/// may stand there.
const NEXT: u32 = 2;

/// The guesses that must not be seen, and whatever was written after them.
#[derive(Debug, Default)]
pub(super) struct Guard {
    guesses: Vec<String>,
    begins: Begins,
    scattered: Scattered,
    /// The ids of events that are kept back by provenance, or as a part of a guess.
    tainted: BTreeSet<String>,
    parts: BTreeSet<String>,
}

impl Guard {
    /// What must not be seen for this purpose.
    pub(super) fn of(purpose: Purpose, found: &Found) -> Self {
        if purpose != Purpose::Responder {
            return Self::default();
        }
        let guesses = found.insights.iter().map(|scored| &scored.row).chain(&found.guesses);
        let secret = guesses.filter(|guess| guess.validation != ValidationState::Validated);
        let guesses: Vec<String> = secret.map(|guess| compared(&guess.statement)).collect();
        let (begins, scattered) = (Begins::of(&guesses), Scattered::of(&guesses));
        let mut guard =
            Self { guesses, begins, scattered, tainted: tainted(found), ..Self::default() };
        guard.parts = guard.shared_out(found);
        guard
    }

    /// Of how many guesses the words are kept back.
    pub(super) fn len(&self) -> usize {
        self.guesses.len()
    }

    /// How many events are kept back because of what their writers were shown.
    pub(super) fn tainted(&self) -> usize {
        self.tainted.len()
    }

    /// Whether there is nothing to keep back.
    pub(super) fn is_idle(&self) -> bool {
        self.guesses.is_empty() && self.tainted.is_empty()
    }

    /// Whether something rests on what somebody wrote who had been shown a guess.
    pub(super) fn taints<'s>(&self, mut sources: impl Iterator<Item = &'s String>) -> bool {
        !self.tainted.is_empty() && sources.any(|source| self.tainted.contains(source))
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
        let text = compared(text);
        let said_by_others = |guess: usize| {
            let cited = sources.clone().filter_map(|source| evidences.find(source));
            cited.filter(said).any(|cited| {
                let text = compared(cited.text);
                stands_in(&self.guesses[guess], &text)
                    || self.scattered.in_text(&text).contains(&guess)
            })
        };
        self.found_in(&text).into_iter().any(|guess| !said_by_others(guess))
    }

    /// Whether an event is the words of a guess, a part of them, or of somebody who had been shown one.
    pub(super) fn withholds_event(&self, cited: &Witness<'_>) -> bool {
        if self.tainted.contains(cited.id) {
            return true;
        }
        if self.guesses.is_empty() || said(cited) {
            return false;
        }
        self.parts.contains(cited.id) || !self.found_in(&compared(cited.text)).is_empty()
    }

    /// The guesses that a text says, in this order of words or in another.
    fn found_in(&self, text: &str) -> BTreeSet<usize> {
        let mut found = self.scattered.in_text(text);
        if self.begins.may_stand_in(text) {
            let whole = (0..self.guesses.len()).filter(|it| stands_in(&self.guesses[*it], text));
            found.extend(whole);
        }
        found
    }

    /// The events that say a guess together with the next one, and not alone.
    fn shared_out(&self, found: &Found) -> BTreeSet<String> {
        let mut parts = BTreeSet::new();
        if self.guesses.is_empty() {
            return parts;
        }
        let events = found.quotes.iter().map(|quote| &quote.row).chain(&found.window);
        let written = events.filter(|event| !is_said(event.origin));
        let written: BTreeMap<_, &Event> = written.map(|event| (event.place, event)).collect();
        let written: Vec<(&Event, String)> =
            written.into_values().map(|event| (event, compared(&event.text))).collect();
        for pair in written.windows(2) {
            let [(one, first), (other, second)] = pair else { continue };
            let near = one.place.session == other.place.session
                && other.place.position - one.place.position <= NEXT;
            if !near {
                continue;
            }
            let alone = [first, second].map(|text| self.found_in(text));
            let both = self.found_in(&format!("{first} {second}"));
            if both.iter().any(|guess| alone.iter().all(|found| !found.contains(guess))) {
                parts.extend([one.id.clone(), other.id.clone()]);
            }
        }
        parts
    }
}

/// The events whose writers were shown an insight that is not validated, or is not known any more.
fn tainted(found: &Found) -> BTreeSet<String> {
    let insights = found.insights.iter().map(|scored| &scored.row).chain(&found.cleared);
    let validated = insights.filter(|row| row.validation == ValidationState::Validated);
    let validated: BTreeSet<&str> = validated.map(|row| row.id.as_str()).collect();
    let is_tainted = |seen: &[String]| seen.iter().any(|id| !validated.contains(id.as_str()));
    let events = found.quotes.iter().map(|quote| &quote.row).chain(&found.window);
    let shown = events.map(|event| (&event.id, &event.seen_insights));
    let cited = found.evidence.iter().map(|(id, cited)| (id, &cited.seen_insights));
    shown.chain(cited).filter(|(_, seen)| is_tainted(seen)).map(|(id, _)| id.clone()).collect()
}

/// A text as guesses are looked for in it.
fn compared(text: &str) -> String {
    normal(&shape(text))
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
    !is_said(event.origin) && words_of_guess(guesses, &event.text)
}

/// Whether a text holds the words of one of these guesses, in this order or close together in another.
pub(crate) fn words_of_guess(guesses: &[String], text: &str) -> bool {
    let text = compared(text);
    let guesses: Vec<String> = guesses.iter().map(|guess| compared(guess)).collect();
    guesses.iter().any(|guess| stands_in(guess, &text))
        || !Scattered::of(&guesses).in_text(&text).is_empty()
}

fn said(cited: &Witness<'_>) -> bool {
    is_said(cited.origin)
}

fn is_said(origin: Origin) -> bool {
    matches!(origin, Origin::User | Origin::Tool)
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
