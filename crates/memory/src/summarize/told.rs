//! From a reply under `memory_summary_v1` to a summary.

use countersign_contracts::memory::summary::MemorySummary;
use countersign_core::run::Time;

use super::Material;
use super::rolled::BETWEEN;
use crate::compose::words_of_guess;
use crate::record::Summary;

/// The summary that a model told, in a reply that its contract let in. A line that has the words of a guess after
/// all, in other signs, is left out; `None` where no line is left.
#[must_use]
pub fn told(material: &Material, reply: &MemorySummary, model: &str, now: Time) -> Option<Summary> {
    let mut lines: Vec<String> = Vec::new();
    let mut sources: Vec<String> = Vec::new();
    for line in &reply.lines {
        if words_of_guess(&material.guesses, &line.text) {
            continue;
        }
        lines.push(line.text.split_whitespace().collect::<Vec<_>>().join(" "));
        for event in &line.events {
            if !sources.contains(event) {
                sources.push(event.clone());
            }
        }
    }
    let quotes = material.previous.as_ref().map(|summary| summary.quotes.clone());
    (!lines.is_empty()).then(|| Summary {
        revision: 1,
        text: lines.join(BETWEEN),
        quotes: quotes.unwrap_or_default(),
        sources,
        by: Some(model.to_owned()),
        upto: material.upto,
        recorded_at: now,
    })
}
