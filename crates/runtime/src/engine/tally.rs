//! Counts what became of runs, for whoever listens: verdicts on replies, and ends. Never which run, or of whom.

use std::sync::LazyLock;

use countersign_core::run::{EndKind, Event};
use opentelemetry::metrics::Counter;
use opentelemetry::{KeyValue, global};

/// Whoever listens has said so before the first run moves.
static REPLIES: LazyLock<Counter<u64>> =
    LazyLock::new(|| counter("countersign.replies", "{reply}"));

static ENDS: LazyLock<Counter<u64>> = LazyLock::new(|| counter("countersign.runs.ended", "{run}"));

/// Counts what a version brought.
pub(super) fn tally(events: &[Event]) {
    for event in events {
        match event {
            Event::ReplyAccepted { .. } => verdict("accepted"),
            Event::ReplyRefused { .. } => verdict("refused"),
            Event::Ended { end, .. } => {
                let word = match end {
                    EndKind::Completed => "completed",
                    EndKind::Failed => "failed",
                    EndKind::Cancelled => "cancelled",
                };
                ENDS.add(1, &[KeyValue::new("countersign.end", word)]);
            }
            _ => {}
        }
    }
}

fn verdict(word: &'static str) {
    REPLIES.add(1, &[KeyValue::new("countersign.verdict", word)]);
}

fn counter(name: &'static str, unit: &'static str) -> Counter<u64> {
    global::meter("countersign").u64_counter(name).with_unit(unit).build()
}
