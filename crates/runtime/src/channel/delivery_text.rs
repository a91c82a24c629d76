//! A delivery in words, for chats and mail.

use countersign_protocol::{ChannelEvent, format_assignees};
use countersign_run::{DeliveredWait, RunDelivery, RunEndKind, WaitKind, WaitResolution};

use super::DeliveryContext;

/// A delivery in words. The title contains nothing that a model wrote.
pub(super) struct DeliveryText {
    /// What happened, in one line.
    pub(super) title: String,
    /// The question of the wait, or why the run ended or is blocked; a model may have written it.
    pub(super) message: Option<String>,
    /// Further facts: label and value.
    pub(super) facts: Vec<(&'static str, String)>,
    /// Address of the page of the run; absent without `public_url`.
    pub(super) link: Option<String>,
}

impl DeliveryText {
    /// Puts a delivery into words.
    pub(super) fn from_delivery(delivery: &RunDelivery, context: &DeliveryContext<'_>) -> Self {
        let RunDelivery { event, protocol, phase, title: name, .. } = delivery;
        let RunDelivery { wait, end, reason, .. } = delivery;
        let run = clean_line(context.run);
        let title = match (event, wait) {
            (ChannelEvent::RunEnded, _) => format!("Run {run} {}", describe_end(*end)),
            (ChannelEvent::RunBlocked, _) => format!("Run {run} needs help to continue"),
            (_, Some(wait)) => describe_wait_event(*event, wait, &run),
            (_, None) => format!("Run {run}: {}", event.as_str()),
        };
        let message = wait.as_ref().map(|wait| wait.question.clone()).or_else(|| reason.clone());
        let mut facts = vec![("Protocol", protocol.clone()), ("Phase", phase.clone())];
        if !name.is_empty() {
            facts.insert(0, ("Run", clean_line(name)));
        }
        if let Some(wait) = wait {
            facts.push(("Who", format_assignees(&wait.who)));
            facts.extend(wait.deadline.map(|deadline| ("Deadline", deadline.to_string())));
            facts.extend(wait.subject.as_ref().map(|digest| ("Subject", digest.clone())));
            facts.extend(wait.resolution.as_ref().map(|one| ("Outcome", describe_outcome(one))));
            for part in &wait.parts {
                let pointer = if part.pointer.is_empty() { "/" } else { &part.pointer };
                facts.push(("Approved", format!("{pointer}: {}", part.value)));
            }
        }
        Self { title, message, facts, link: context.link() }
    }
}

fn describe_wait_event(event: ChannelEvent, wait: &DeliveredWait, run: &str) -> String {
    let needed = match wait.kind {
        WaitKind::Approval => "an approval",
        WaitKind::Question => "an answer",
        WaitKind::Document => "a document",
        WaitKind::Budget => "a decision on its budget",
        WaitKind::Work => "a reply",
        WaitKind::Incident => "a decision on an incident",
    };
    match event {
        ChannelEvent::WaitSuperseded => {
            format!("Run {run} needs {needed} again: what is asked has changed")
        }
        ChannelEvent::DeadlineNear => {
            format!("Run {run} still needs {needed}: the deadline is near")
        }
        ChannelEvent::WaitClosed => format!("Run {run} no longer needs {needed}"),
        _ => format!("Run {run} needs {needed}"),
    }
}

fn describe_end(end: Option<RunEndKind>) -> &'static str {
    match end {
        Some(RunEndKind::Completed) => "completed",
        Some(RunEndKind::Failed) => "failed",
        Some(RunEndKind::Cancelled) => "was cancelled",
        None => "ended",
    }
}

fn describe_outcome(resolution: &WaitResolution) -> String {
    let with_note = |what: &str, by: &str, note: &Option<String>| match note {
        Some(note) => format!("{what} by {by}: {note}"),
        None => format!("{what} by {by}"),
    };
    match resolution {
        WaitResolution::Answered { by } => format!("answered by {by}"),
        WaitResolution::Approved { by, note } => with_note("approved", by, note),
        WaitResolution::Denied { by, note } => with_note("denied", by, note),
        WaitResolution::Superseded => "superseded by another wait".to_owned(),
        WaitResolution::Expired => "expired without an answer".to_owned(),
        WaitResolution::Dropped => "dropped, because the run continued or ended".to_owned(),
    }
}

/// Turns a text into one line: line breaks and other control characters become spaces.
pub(super) fn clean_line(text: &str) -> String {
    text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}

/// Truncates a text to a number of characters, with an ellipsis.
pub(super) fn truncate_chars(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
