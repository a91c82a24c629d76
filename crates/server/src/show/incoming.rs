//! What came in, in a sentence. What became true of it is `progress.rs`.

use countersign_core::run::{HookAnswer, Incoming, Start};

use super::shortened;

/// An input in a sentence: what, and from whom.
#[must_use]
pub fn sentence(what: &Incoming) -> String {
    let noted = |note: &Option<String>| {
        note.as_ref().map_or_else(String::new, |note| format!(": {}", shortened(note, 80)))
    };
    match what {
        Incoming::Start(start) => started(start),
        Incoming::ModelReplied(reply) => {
            let tokens = reply.usage.input_tokens + reply.usage.output_tokens;
            let cost = if tokens > 0 { format!(", {tokens} tokens") } else { String::new() };
            let build = reply.build.as_ref();
            let shown = build.map_or_else(String::new, |build| format!(", shown memory {build}"));
            format!("{} replied{cost}{shown}", reply.by)
        }
        Incoming::ModelFailed { failure, message, .. } => {
            format!("the model could not be asked ({failure}): {}", shortened(message, 80))
        }
        Incoming::Submitted { by, .. } => format!("{by} handed something in"),
        Incoming::Answered { wait, value, by } => {
            format!("{by} answered {wait}: {}", shortened(&value.to_string(), 80))
        }
        Incoming::Decided { wait, approve, by, note } => {
            let verb = if *approve { "approved" } else { "denied" };
            format!("{by} {verb} {wait}{}", noted(note))
        }
        Incoming::Ticked => "time went by".to_owned(),
        Incoming::EffectFinished { .. } => "the effect is done".to_owned(),
        Incoming::EffectFailed { failure, message, .. } => {
            format!("the effect failed ({failure}): {}", shortened(message, 80))
        }
        Incoming::ToolFinished { ok: true, .. } => "the tool was used".to_owned(),
        Incoming::ToolFinished { ok: false, output, .. } => {
            format!("the tool could not: {}", shortened(output, 80))
        }
        Incoming::HookFinished { answer, .. } => match answer {
            HookAnswer::Ok => "the hook lets it go on".to_owned(),
            HookAnswer::Abort { reason } => format!("the hook stops it: {}", shortened(reason, 80)),
            HookAnswer::Patch { .. } => "the hook changes the document".to_owned(),
            HookAnswer::Redirect { to } => format!("the hook sends it to {to}"),
        },
        Incoming::ChildEnded { completed: true, .. } => "the child run is done".to_owned(),
        Incoming::ChildEnded { reason, .. } => format!("the child run failed{}", noted(reason)),
        Incoming::Told { .. } => "the other run was told".to_owned(),
        Incoming::Halted { by, reason } => format!("{by} halted it{}", noted(reason)),
        Incoming::Resumed { by, grants } if grants.is_empty() => format!("{by} resumed it"),
        Incoming::Resumed { by, grants } => {
            let told: Vec<String> =
                grants.iter().map(|(name, amount)| format!("{amount} more of {name}")).collect();
            format!("{by} resumed it, with {}", told.join(", "))
        }
        Incoming::Cancelled { by, reason } => format!("{by} cancelled it{}", noted(reason)),
    }
}

/// The text that somebody handed in or a model wrote, which spans of violations point into.
#[must_use]
pub fn text(what: &Incoming) -> Option<&str> {
    match what {
        Incoming::ModelReplied(reply) => Some(&reply.text),
        Incoming::Submitted { text, .. } => Some(text),
        _ => None,
    }
}

fn started(start: &Start) -> String {
    let by = start.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
    match (&start.fork, &start.parent) {
        (Some(fork), _) => format!("forked{by} from {}@{}", fork.run, fork.version),
        (None, Some(parent)) => format!("started by run {}", parent.run),
        (None, None) => {
            let with = start.input.as_ref().map_or_else(String::new, |given| {
                format!(" with {}", shortened(&given.to_string(), 80))
            });
            format!("started{by}{with}")
        }
    }
}
