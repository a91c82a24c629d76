//! Counts outcomes of runs for telemetry: verdicts on replies, and run ends. Runs and tenants are
//! not identified.

use std::sync::LazyLock;

use countersign_run::{RunEndKind, RunEvent};
use opentelemetry::metrics::Counter;
use opentelemetry::{KeyValue, global};

/// Created on first use: the telemetry exporter is installed before the first run advances.
static REPLY_COUNTER: LazyLock<Counter<u64>> =
    LazyLock::new(|| build_counter("countersign.replies", "{reply}"));

static ENDED_RUN_COUNTER: LazyLock<Counter<u64>> =
    LazyLock::new(|| build_counter("countersign.runs.ended", "{run}"));

/// Counts the events of a version.
pub(super) fn count_events(events: &[RunEvent]) {
    for event in events {
        match event {
            RunEvent::ReplyAccepted { .. } => count_verdict("accepted"),
            RunEvent::ReplyRefused { .. } => count_verdict("refused"),
            RunEvent::Ended { end, .. } => {
                let word = match end {
                    RunEndKind::Completed => "completed",
                    RunEndKind::Failed => "failed",
                    RunEndKind::Cancelled => "cancelled",
                };
                ENDED_RUN_COUNTER.add(1, &[KeyValue::new("countersign.end", word)]);
            }
            _ => {}
        }
    }
}

fn count_verdict(word: &'static str) {
    REPLY_COUNTER.add(1, &[KeyValue::new("countersign.verdict", word)]);
}

fn build_counter(name: &'static str, unit: &'static str) -> Counter<u64> {
    global::meter("countersign").u64_counter(name).with_unit(unit).build()
}
