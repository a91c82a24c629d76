//! Converts a reply under `memory_summary_v1` into a summary.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::summary::MemorySummary;

use super::SummaryInput;
use super::summarize_by_rules::LINE_SEPARATOR;
use crate::compose::contains_insight_words;
use crate::record::SessionSummary;

/// Builds the summary from a model's accepted reply. A line that still repeats the words of an
/// unvalidated insight in other characters is left out. Returns `None` if no line is left.
#[must_use]
pub fn summarize_from_reply(
    material: &SummaryInput,
    reply: &MemorySummary,
    model: &str,
    now: Timestamp,
) -> Option<SessionSummary> {
    let mut lines: Vec<String> = Vec::new();
    let mut sources: Vec<String> = Vec::new();
    for line in &reply.lines {
        if contains_insight_words(&material.unvalidated_insights, &line.text) {
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
    (!lines.is_empty()).then(|| SessionSummary {
        revision: 1,
        text: lines.join(LINE_SEPARATOR),
        quotes: quotes.unwrap_or_default(),
        sources,
        written_by: Some(model.to_owned()),
        covered_position: material.last_position,
        recorded_at: now,
    })
}
