//! Summarizes a session by rules: selects the most informative lines, verbatim.
//!
//! The value of a line is the part of the session's subjects that no better line has covered yet.
//! Words that recur in other events weigh more, and so do numbers, user messages and decisions. The
//! scores are integers.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;

use super::SummaryInput;
use crate::compose::shorten_chars;
use crate::rank::extract_terms;
use crate::record::{MemoryEvent, MemoryEventKind, SessionSummary, SpeakerRole};
use crate::tokens::TokenCounter;

/// The author name of a summary that was written without a model.
pub const WRITTEN_BY_RULES: &str = "rules";

/// The separator between two lines; a packet renders a summary on one line.
pub(super) const LINE_SEPARATOR: &str = " · ";

/// The maximum number of characters of a line, and the maximum number of lines.
const MAX_LINE_CHARS: usize = 160;
const MAX_LINES: usize = 24;

/// When a summary is renewed, and how long it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryPolicy {
    /// The minimum number of events before a session gets its first summary; 12 by default.
    pub min_events: usize,
    /// The minimum number of new events before the summary is renewed; 4 by default.
    pub min_new_events: usize,
    /// The maximum length of the summary in tokens; 256 by default.
    pub max_tokens: u64,
}

impl Default for SummaryPolicy {
    fn default() -> Self {
        Self { min_events: 12, min_new_events: 4, max_tokens: 256 }
    }
}

impl SummaryPolicy {
    /// Returns whether the session needs a new summary.
    #[must_use]
    pub fn is_due(self, material: &SummaryInput) -> bool {
        match &material.previous {
            None => material.new_events.len() >= self.min_events,
            Some(_) => material.new_events.len() >= self.min_new_events.max(1),
        }
    }
}

struct LineCandidate<'a> {
    event: &'a MemoryEvent,
    text: String,
    terms: BTreeSet<String>,
    factor: u64,
}

/// Writes the next summary by rules; returns `None` if no event has any content. The same input
/// always gives the same summary.
#[must_use]
pub fn summarize_by_rules(
    material: &SummaryInput,
    tokens: u64,
    counter: &dyn TokenCounter,
    now: Timestamp,
) -> Option<SessionSummary> {
    let kept = material.summarized_events.iter().map(|event| build_line(event, 5));
    let mut left: Vec<LineCandidate<'_>> =
        kept.chain(material.new_events.iter().map(|event| build_line(event, 4))).collect();
    // A single word carries no information: `Thanks!`
    left.retain(|line| line.terms.len() > 1);
    let mut standing: BTreeMap<String, u64> = BTreeMap::new();
    for term in left.iter().flat_map(|line| &line.terms) {
        *standing.entry(term.clone()).or_default() += 1;
    }
    let mut chosen: Vec<LineCandidate<'_>> = Vec::new();
    let mut brought: BTreeSet<String> = BTreeSet::new();
    let mut used = 0;
    while chosen.len() < MAX_LINES {
        let best = left.iter().enumerate().map(|(index, line)| {
            (score_line(line, &standing, &brought), line.event.location, index)
        });
        let Some((worth, _, index)) = best.max() else { break };
        if worth == 0 {
            break;
        }
        let line = left.swap_remove(index);
        // An upper bound: slightly more than the parts cost together, never less.
        let cost = counter.count(&line.text) + counter.count(LINE_SEPARATOR) + 1;
        if used + cost > tokens {
            continue;
        }
        used += cost;
        brought.extend(line.terms.iter().cloned());
        chosen.push(line);
    }
    chosen.sort_by_key(|line| line.event.location);
    let texts: Vec<&str> = chosen.iter().map(|line| line.text.as_str()).collect();
    let quotes = material.previous.as_ref().map(|summary| summary.quotes.clone());
    (!chosen.is_empty()).then(|| SessionSummary {
        revision: 1,
        text: texts.join(LINE_SEPARATOR),
        quotes: quotes.unwrap_or_default(),
        sources: chosen.iter().map(|line| line.event.id.clone()).collect(),
        written_by: Some(WRITTEN_BY_RULES.to_owned()),
        covered_position: material.last_position,
        recorded_at: now,
    })
}

/// Computes the value of a line; the unit is arbitrary.
fn score_line(
    line: &LineCandidate<'_>,
    standing: &BTreeMap<String, u64>,
    brought: &BTreeSet<String>,
) -> u64 {
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
    // A long line has many words and costs as many tokens, so divide by the length.
    line.factor * sum / (6 + line.terms.len() as u64)
}

fn build_line(event: &MemoryEvent, kept: u64) -> LineCandidate<'_> {
    let factor = match (event.kind, event.role) {
        (MemoryEventKind::Decision, _) | (_, SpeakerRole::User) => 3,
        (MemoryEventKind::ToolResult, _) | (_, SpeakerRole::Tool) => 2,
        _ => 1,
    };
    let who = event.speaker.as_deref().unwrap_or(match event.role {
        SpeakerRole::User => "user",
        SpeakerRole::Assistant => "assistant",
        SpeakerRole::Tool => "tool",
    });
    let flat = event.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = shorten_chars(&flat, MAX_LINE_CHARS).unwrap_or_else(|| "…".to_owned());
    let terms = extract_terms(&event.text).into_iter().collect();
    LineCandidate { event, text: format!("{who}: {words}"), terms, factor: factor * kept }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryScope;
    use crate::record::{EventLocation, MemoryOrigin};
    use crate::tokens::find_counter;

    fn event(position: u32, role: SpeakerRole, text: &str) -> MemoryEvent {
        MemoryEvent {
            id: format!("e{position}"),
            scope: MemoryScope::new("t", "u", "a", "s", "r").unwrap(),
            location: EventLocation { session: 1, position },
            ts: Timestamp(i64::from(position)),
            recorded_at: Timestamp(i64::from(position)),
            role,
            kind: MemoryEventKind::Message,
            origin: if role == SpeakerRole::User {
                MemoryOrigin::User
            } else {
                MemoryOrigin::Model
            },
            speaker: None,
            text: text.to_owned(),
            tags: Vec::new(),
            entities: Vec::new(),
            expires: None,
            seen_insights: vec![],
        }
    }

    fn talk() -> Vec<MemoryEvent> {
        let said = [
            (SpeakerRole::User, "I want to plan a dinner for six people on Friday."),
            (SpeakerRole::Assistant, "Good."),
            (SpeakerRole::User, "ok"),
            (SpeakerRole::User, "Bob is allergic to nuts, and the dinner must have none."),
            (SpeakerRole::Assistant, "The dinner on Friday is for six people and without nuts."),
            (SpeakerRole::User, "The budget is 80 euros."),
            (SpeakerRole::User, "Thanks!"),
        ];
        (1..).zip(said).map(|(position, (role, text))| event(position, role, text)).collect()
    }

    fn summary(material: &SummaryInput, tokens: u64) -> Option<SessionSummary> {
        summarize_by_rules(material, tokens, &*find_counter("chars/4").unwrap(), Timestamp(9))
    }

    #[test]
    fn the_lines_that_say_most_stand_in_their_order_with_their_sources() {
        let material =
            SummaryInput { new_events: talk(), last_position: 7, ..SummaryInput::default() };
        let small = summary(&material, 50).unwrap();
        assert_eq!(small.sources, ["e1", "e4", "e6"]);
        assert_eq!(
            small.text,
            "user: I want to plan a dinner for six people on Friday. · user: Bob is allergic to nuts, and the dinner must have none. · user: The budget is 80 euros."
        );
        assert_eq!(
            (small.written_by.as_deref(), small.covered_position),
            (Some(WRITTEN_BY_RULES), 7)
        );
        let mut shuffled = material.clone();
        shuffled.new_events.reverse();
        assert_eq!(summary(&shuffled, 50), Some(small));
        assert_eq!(summary(&SummaryInput::default(), 50), None);
        let idle = SummaryInput {
            new_events: vec![event(1, SpeakerRole::User, "…")],
            ..SummaryInput::default()
        };
        assert_eq!(summary(&idle, 50), None);
    }

    #[test]
    fn it_never_has_more_tokens_than_it_may() {
        let material =
            SummaryInput { new_events: talk(), last_position: 7, ..SummaryInput::default() };
        for (name, tokens) in [("chars/4", 1), ("o200k", 20), ("cl100k", 33), ("o200k", 64)] {
            let counter = find_counter(name).unwrap();
            if let Some(summary) = summarize_by_rules(&material, tokens, &*counter, Timestamp(9)) {
                assert!(counter.count(&summary.text) <= tokens, "{name} {tokens}");
            }
        }
    }

    #[test]
    fn it_rolls_forward_and_keeps_what_matters() {
        let first = summary(
            &SummaryInput { new_events: talk(), last_position: 7, ..SummaryInput::default() },
            50,
        )
        .unwrap();
        let kept = talk().into_iter().filter(|event| first.sources.contains(&event.id)).collect();
        let new: Vec<MemoryEvent> =
            (8..20).map(|at| event(at, SpeakerRole::Assistant, "Let me see.")).collect();
        let material = SummaryInput {
            previous: Some(first.clone()),
            summarized_events: kept,
            new_events: new,
            last_position: 19,
            ..SummaryInput::default()
        };
        let next = summary(&material, 50).unwrap();
        assert_eq!((next.text, next.covered_position), (first.text, 19));
        let rolling = SummaryPolicy::default();
        assert!(rolling.is_due(&material));
        let few =
            SummaryInput { new_events: material.new_events[..3].to_vec(), ..material.clone() };
        assert!(!rolling.is_due(&few));
        assert!(!rolling.is_due(&SummaryInput {
            previous: None,
            new_events: talk(),
            ..SummaryInput::default()
        }));
    }
}
