//! The summary by rules: the lines of a session that say most, in the words of whoever said them.
//!
//! A line is worth what of the session's subjects it brings that no better line has brought: words that return in
//! other events weigh more, numbers and what a person said or decided too. Whole numbers only.

use std::collections::{BTreeMap, BTreeSet};

use countersign_core::run::Time;

use super::Material;
use crate::compose::shorten_chars;
use crate::rank::terms;
use crate::record::{Event, EventKind, Role, Summary};
use crate::tokens::TokenCounter;

/// Who writes a summary without a model.
pub const BY_RULES: &str = "rules";

/// What stands between two lines: a packet writes a summary on one line.
pub(super) const BETWEEN: &str = " · ";

/// The most characters of one line, and the most lines.
const LONGEST_LINE: usize = 160;
const MOST_LINES: usize = 24;

/// When a summary is rolled forward, and how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rolling {
    /// A session of fewer events needs none.
    pub least: usize,
    /// So many events must be new.
    pub step: usize,
    /// The most tokens.
    pub tokens: u64,
}

impl Default for Rolling {
    fn default() -> Self {
        Self { least: 12, step: 4, tokens: 256 }
    }
}

impl Rolling {
    /// Whether it is time for a summary.
    #[must_use]
    pub fn is_due(self, material: &Material) -> bool {
        match &material.previous {
            None => material.new.len() >= self.least,
            Some(_) => material.new.len() >= self.step.max(1),
        }
    }
}

struct Line<'a> {
    event: &'a Event,
    text: String,
    terms: BTreeSet<String>,
    factor: u64,
}

/// The next summary by rules; `None` where nothing says anything. The same material gives the same summary.
#[must_use]
pub fn rolled(
    material: &Material,
    tokens: u64,
    counter: &dyn TokenCounter,
    now: Time,
) -> Option<Summary> {
    let kept = material.kept.iter().map(|event| line(event, 5));
    let mut left: Vec<Line<'_>> =
        kept.chain(material.new.iter().map(|event| line(event, 4))).collect();
    // One word says nothing by itself: `Thanks!`
    left.retain(|line| line.terms.len() > 1);
    let mut standing: BTreeMap<String, u64> = BTreeMap::new();
    for term in left.iter().flat_map(|line| &line.terms) {
        *standing.entry(term.clone()).or_default() += 1;
    }
    let mut chosen: Vec<Line<'_>> = Vec::new();
    let mut brought: BTreeSet<String> = BTreeSet::new();
    let mut used = 0;
    while chosen.len() < MOST_LINES {
        let best = left
            .iter()
            .enumerate()
            .map(|(index, line)| (worth(line, &standing, &brought), line.event.place, index));
        let Some((worth, _, index)) = best.max() else { break };
        if worth == 0 {
            break;
        }
        let line = left.swap_remove(index);
        // A little more than the parts cost together, never less.
        let cost = counter.count(&line.text) + counter.count(BETWEEN) + 1;
        if used + cost > tokens {
            continue;
        }
        used += cost;
        brought.extend(line.terms.iter().cloned());
        chosen.push(line);
    }
    chosen.sort_by_key(|line| line.event.place);
    let texts: Vec<&str> = chosen.iter().map(|line| line.text.as_str()).collect();
    let quotes = material.previous.as_ref().map(|summary| summary.quotes.clone());
    (!chosen.is_empty()).then(|| Summary {
        revision: 1,
        text: texts.join(BETWEEN),
        quotes: quotes.unwrap_or_default(),
        sources: chosen.iter().map(|line| line.event.id.clone()).collect(),
        by: Some(BY_RULES.to_owned()),
        upto: material.upto,
        recorded_at: now,
    })
}

/// What a line brings, in no unit.
fn worth(line: &Line<'_>, standing: &BTreeMap<String, u64>, brought: &BTreeSet<String>) -> u64 {
    let sum: u64 = line
        .terms
        .iter()
        .map(|term| {
            let events = standing.get(term).copied().unwrap_or(1);
            let number = if term.chars().any(char::is_numeric) { 300 } else { 0 };
            let weight = 1_000 * events / (events + 2) + number;
            if brought.contains(term) { weight / 4 } else { weight }
        })
        .sum();
    // A long line has many words, and costs as many.
    line.factor * sum / (6 + line.terms.len() as u64)
}

fn line(event: &Event, kept: u64) -> Line<'_> {
    let factor = match (event.kind, event.role) {
        (EventKind::Decision, _) | (_, Role::User) => 3,
        (EventKind::ToolResult, _) | (_, Role::Tool) => 2,
        _ => 1,
    };
    let who = event.speaker.as_deref().unwrap_or(match event.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    });
    let flat = event.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = shorten_chars(&flat, LONGEST_LINE).unwrap_or_else(|| "…".to_owned());
    let terms = terms(&event.text).into_iter().collect();
    Line { event, text: format!("{who}: {words}"), terms, factor: factor * kept }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;
    use crate::record::{Origin, Place};
    use crate::tokens::counter;

    fn event(position: u32, role: Role, text: &str) -> Event {
        Event {
            id: format!("e{position}"),
            scope: Scope::new("t", "u", "a", "s", "r").unwrap(),
            place: Place { session: 1, position },
            ts: Time(i64::from(position)),
            recorded_at: Time(i64::from(position)),
            role,
            kind: EventKind::Message,
            origin: if role == Role::User { Origin::User } else { Origin::Model },
            speaker: None,
            text: text.to_owned(),
            tags: Vec::new(),
            entities: Vec::new(),
            expires: None,
            seen_insights: vec![],
        }
    }

    fn talk() -> Vec<Event> {
        let said = [
            (Role::User, "I want to plan a dinner for six people on Friday."),
            (Role::Assistant, "Good."),
            (Role::User, "ok"),
            (Role::User, "Bob is allergic to nuts, and the dinner must have none."),
            (Role::Assistant, "The dinner on Friday is for six people and without nuts."),
            (Role::User, "The budget is 80 euros."),
            (Role::User, "Thanks!"),
        ];
        (1..).zip(said).map(|(position, (role, text))| event(position, role, text)).collect()
    }

    fn summary(material: &Material, tokens: u64) -> Option<Summary> {
        rolled(material, tokens, &*counter("chars/4").unwrap(), Time(9))
    }

    #[test]
    fn the_lines_that_say_most_stand_in_their_order_with_their_sources() {
        let material = Material { new: talk(), upto: 7, ..Material::default() };
        let small = summary(&material, 50).unwrap();
        assert_eq!(small.sources, ["e1", "e4", "e6"]);
        assert_eq!(
            small.text,
            "user: I want to plan a dinner for six people on Friday. · user: Bob is allergic to nuts, and the dinner must have none. · user: The budget is 80 euros."
        );
        assert_eq!((small.by.as_deref(), small.upto), (Some(BY_RULES), 7));
        let mut shuffled = material.clone();
        shuffled.new.reverse();
        assert_eq!(summary(&shuffled, 50), Some(small));
        assert_eq!(summary(&Material::default(), 50), None);
        let idle = Material { new: vec![event(1, Role::User, "…")], ..Material::default() };
        assert_eq!(summary(&idle, 50), None);
    }

    #[test]
    fn it_never_has_more_tokens_than_it_may() {
        let material = Material { new: talk(), upto: 7, ..Material::default() };
        for (name, tokens) in [("chars/4", 1), ("o200k", 20), ("cl100k", 33), ("o200k", 64)] {
            let counter = counter(name).unwrap();
            if let Some(summary) = rolled(&material, tokens, &*counter, Time(9)) {
                assert!(counter.count(&summary.text) <= tokens, "{name} {tokens}");
            }
        }
    }

    #[test]
    fn it_rolls_forward_and_keeps_what_matters() {
        let first = summary(&Material { new: talk(), upto: 7, ..Material::default() }, 50).unwrap();
        let kept = talk().into_iter().filter(|event| first.sources.contains(&event.id)).collect();
        let new: Vec<Event> = (8..20).map(|at| event(at, Role::Assistant, "Let me see.")).collect();
        let material =
            Material { previous: Some(first.clone()), kept, new, upto: 19, ..Material::default() };
        let next = summary(&material, 50).unwrap();
        assert_eq!((next.text, next.upto), (first.text, 19));
        let rolling = Rolling::default();
        assert!(rolling.is_due(&material));
        let few = Material { new: material.new[..3].to_vec(), ..material.clone() };
        assert!(!rolling.is_due(&few));
        assert!(!rolling.is_due(&Material { previous: None, new: talk(), ..Material::default() }));
    }
}
