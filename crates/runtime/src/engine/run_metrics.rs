//! Reports committed versions: one log event for each, and counters for verdicts on replies, run
//! ends and deliveries. The counters identify neither runs nor tenants.

use countersign_run::{RunEndKind, RunEvent, RunState};
use tracing::{Level, enabled, event, info};

/// Reports a version that was committed.
pub(super) fn report_commit(state: &RunState, events: &[RunEvent]) {
    if enabled!(Level::INFO) {
        let kinds: Vec<&str> = events.iter().map(RunEvent::kind).collect();
        info!(
            countersign.version = state.version,
            countersign.phase = state.phase,
            events = kinds.join(" "),
            "committed"
        );
    }
    for event in events {
        match event {
            RunEvent::ReplyAccepted { .. } => count_verdict("accepted"),
            RunEvent::ReplyRefused { .. } => count_verdict("refused"),
            RunEvent::Ended { end, .. } => count_end(*end),
            RunEvent::DeliveryFinished { .. } => count_delivery("delivered"),
            RunEvent::DeliveryFailed { retry_at: Some(_), .. } => count_delivery("failed"),
            RunEvent::DeliveryFailed { retry_at: None, .. } => count_delivery("given_up"),
            _ => {}
        }
    }
}

fn count_verdict(verdict: &'static str) {
    event!(
        target: "metrics",
        Level::INFO,
        monotonic_counter.countersign.replies = 1_u64,
        countersign.verdict = verdict,
    );
}

fn count_delivery(result: &'static str) {
    event!(
        target: "metrics",
        Level::INFO,
        monotonic_counter.countersign.deliveries = 1_u64,
        countersign.result = result,
    );
}

fn count_end(end: RunEndKind) {
    let end = match end {
        RunEndKind::Completed => "completed",
        RunEndKind::Failed => "failed",
        RunEndKind::Cancelled => "cancelled",
    };
    event!(
        target: "metrics",
        Level::INFO,
        monotonic_counter.countersign.runs.ended = 1_u64,
        countersign.end = end,
    );
}
