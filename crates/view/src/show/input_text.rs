//! Describes inputs of a run in a sentence. The command line's `progress.rs` describes events.

use countersign_run::{HookAnswer, InputKind, RunStart};

use super::truncate_line;

/// Describes an input in a sentence, with its author.
#[must_use]
pub fn describe_input(what: &InputKind) -> String {
    let noted = |note: &Option<String>| {
        note.as_ref().map_or_else(String::new, |note| format!(": {}", truncate_line(note, 80)))
    };
    match what {
        InputKind::Start(start) => describe_start(start),
        InputKind::ModelReplied(reply) => {
            let tokens = reply.usage.input_tokens + reply.usage.output_tokens;
            let cost = if tokens > 0 { format!(", {tokens} tokens") } else { String::new() };
            let build = reply.packet_build.as_ref();
            let shown = build.map_or_else(String::new, |build| format!(", memory build {build}"));
            format!("{} replied{cost}{shown}", reply.by)
        }
        InputKind::ModelFailed { failure, message, .. } => {
            format!("the model call failed ({failure}): {}", truncate_line(message, 80))
        }
        InputKind::ManualPatch { by, .. } => format!("{by} submitted a patch"),
        InputKind::Answered { wait, value, by } => {
            format!("{by} answered {wait}: {}", truncate_line(&value.to_string(), 80))
        }
        InputKind::ApprovalDecided { wait, approve, by, note, .. } => {
            let verb = if *approve { "approved" } else { "denied" };
            format!("{by} {verb} {wait}{}", noted(note))
        }
        InputKind::Delegated { wait, to, by, note } => {
            format!("{by} handed {wait} to {to}{}", noted(note))
        }
        InputKind::Ticked => "a timer fired".to_owned(),
        InputKind::EffectFinished { .. } => "the effect finished".to_owned(),
        InputKind::EffectFailed { failure, message, .. } => {
            format!("the effect failed ({failure}): {}", truncate_line(message, 80))
        }
        InputKind::ToolFinished { ok: true, .. } => "the tool call finished".to_owned(),
        InputKind::ToolFinished { ok: false, output, .. } => {
            format!("the tool call failed: {}", truncate_line(output, 80))
        }
        InputKind::McpToolsListed { tools, changes, .. } => {
            let changed = changes.as_ref().map_or_else(String::new, |changes| {
                format!("; since run {}, {}", changes.run, truncate_line(&changes.describe(), 120))
            });
            format!("the MCP server listed {} tools{changed}", tools.len())
        }
        InputKind::McpToolsUnavailable { failure, message, .. } => {
            format!("the MCP server cannot be used ({failure}): {}", truncate_line(message, 120))
        }
        InputKind::HookFinished { answer, .. } => match answer {
            HookAnswer::Ok => "the hook allowed the run to continue".to_owned(),
            HookAnswer::Abort { reason } => {
                format!("the hook aborted: {}", truncate_line(reason, 80))
            }
            HookAnswer::Patch { .. } => "the hook changed the document".to_owned(),
            HookAnswer::Redirect { to } => format!("the hook redirected the run to {to}"),
        },
        InputKind::ChildEnded { completed: true, .. } => "the child run completed".to_owned(),
        InputKind::ChildEnded { reason, .. } => format!("the child run failed{}", noted(reason)),
        InputKind::Notified { .. } => "the other run was notified".to_owned(),
        InputKind::DeliveryFinished { .. } => "the delivery was accepted".to_owned(),
        InputKind::DeliveryFailed { failure, message, retry_in, .. } => {
            let what = match retry_in {
                Some(_) => "the delivery failed",
                None => "the delivery was given up",
            };
            format!("{what} ({failure}): {}", truncate_line(message, 80))
        }
        InputKind::Halted { by, reason } => format!("{by} halted the run{}", noted(reason)),
        InputKind::Resumed { by, grants } if grants.is_empty() => format!("{by} resumed the run"),
        InputKind::Resumed { by, grants } => {
            let parts: Vec<String> =
                grants.iter().map(|(name, amount)| format!("{amount} more of {name}")).collect();
            format!("{by} resumed the run and granted {}", parts.join(", "))
        }
        InputKind::ModelSelected { model, by } => {
            format!("{by} selected model {model} for the run")
        }
        InputKind::Cancelled { by, reason } => format!("{by} cancelled the run{}", noted(reason)),
    }
}

/// Returns the text that a person submitted or a model wrote, which the spans of violations refer
/// to.
#[must_use]
pub fn submitted_text(what: &InputKind) -> Option<&str> {
    match what {
        InputKind::ModelReplied(reply) => Some(&reply.text),
        InputKind::ManualPatch { text, .. } => Some(text),
        _ => None,
    }
}

fn describe_start(start: &RunStart) -> String {
    let by = start.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
    match (&start.fork, &start.parent) {
        (Some(fork), _) => format!("forked{by} from {}@{}", fork.run, fork.version),
        (None, Some(parent)) => format!("started by run {}", parent.run),
        (None, None) => {
            let with = start.input.as_ref().map_or_else(String::new, |input| {
                format!(" with {}", truncate_line(&input.to_string(), 80))
            });
            let after = start.continues.as_ref();
            let after = after.map_or_else(String::new, |earlier| format!(" after {}", earlier.run));
            format!("started{by}{after}{with}")
        }
    }
}
