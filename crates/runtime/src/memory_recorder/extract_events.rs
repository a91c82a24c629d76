//! Extracts what is worth remembering from one version of a run. The function is pure: a log always
//! gives the same memory events, so that reading it twice writes once.

use countersign_memory::MemoryScope;
use countersign_memory::record::{MemoryEventKind, MemoryOrigin, SpeakerRole};
use countersign_memory::store::NewMemoryEvent;
use countersign_protocol::{PhaseWork, Protocol};
use countersign_run::{
    EffectCall, InputKind, PendingAction, RunEvent, RunState, Timestamp, ToolCall, WaitKind,
    WaitResolution,
};
use serde_json::Value;

use super::format_text;

/// Maximum length of the question that precedes its answer, in characters.
const MAX_QUESTION_CHARS: usize = 160;

/// A version of a run, with its events.
#[derive(Debug, Clone, Copy)]
pub struct RecordedVersion<'a> {
    /// Number of the version.
    pub number: u64,
    /// When the version was committed.
    pub time: Timestamp,
    /// The events of the version.
    pub events: &'a [RunEvent],
}

/// Returns the memory events of a version; `before` is the state of the run before it.
#[must_use]
pub fn extract_memory_events(
    scope: &MemoryScope,
    protocol: &Protocol,
    before: &RunState,
    version: RecordedVersion<'_>,
    now: Timestamp,
) -> Vec<NewMemoryEvent> {
    let incoming = version.events.iter().find_map(|event| match event {
        RunEvent::InputReceived { input } => Some(&input.payload),
        _ => None,
    });
    // The author of a reply was shown this build, and so was the author of the tool calls that were
    // answered.
    let build = match incoming {
        Some(InputKind::ModelReplied(reply)) => reply.packet_build.clone(),
        Some(InputKind::ToolFinished { .. }) => {
            before.step.as_ref().and_then(|step| step.packet_build.clone())
        }
        _ => None,
    };
    let mut said: Vec<MemoryEventDraft> = Vec::new();
    for event in version.events {
        said.extend(draft_event(protocol, before, incoming, event));
    }
    let named = (1..).zip(said.into_iter().filter(|said| !said.text.trim().is_empty()));
    let event = |(number, said): (u32, MemoryEventDraft)| NewMemoryEvent {
        id: format!("{}/{}/{number}", scope.run(), version.number),
        scope: scope.clone(),
        ts: version.time,
        recorded_at: now,
        role: said.role,
        kind: said.kind,
        origin: said.origin,
        speaker: said.speaker,
        text: format_text::truncate_event_text(&said.text),
        tags: Vec::new(),
        entities: Vec::new(),
        expires: None,
        build: build.clone(),
        seen_insights: Vec::new(),
    };
    named.map(event).collect()
}

/// A memory event without id and time.
struct MemoryEventDraft {
    kind: MemoryEventKind,
    role: SpeakerRole,
    origin: MemoryOrigin,
    speaker: Option<String>,
    text: String,
}

fn draft_event(
    protocol: &Protocol,
    before: &RunState,
    incoming: Option<&InputKind>,
    event: &RunEvent,
) -> Option<MemoryEventDraft> {
    match event {
        RunEvent::InputReceived { input } => match &input.payload {
            // The input of a child was already recorded in the parent.
            InputKind::Start(start) if start.parent.is_none() => {
                let text = format_text::format_value(start.input.as_ref()?);
                Some(draft_person_event(MemoryEventKind::Message, start.by.as_ref(), text))
            }
            InputKind::ToolFinished { action, ok: true, output } => {
                let Some(PendingAction::Tool { call }) = before.pending.get(action) else {
                    return None;
                };
                let text = format!("{}: {output}", describe_tool_call(call));
                Some(draft_tool_event(MemoryOrigin::Tool, &call.name(), text))
            }
            _ => None,
        },
        RunEvent::ReplyAccepted { .. } => draft_reply(protocol, before, incoming?),
        RunEvent::WaitClosed { wait, resolution: closing } => {
            let wait = before.waits.get(wait)?;
            let question = format_text::format_line(&wait.question, MAX_QUESTION_CHARS);
            let decided = |verb: &str, by: &String, note: &Option<String>| {
                let note = note.as_ref().map_or_else(String::new, |note| format!(" — {note}"));
                draft_person_event(
                    MemoryEventKind::Decision,
                    Some(by),
                    format!("{verb}: {question}{note}"),
                )
            };
            match (closing, incoming?) {
                (WaitResolution::Answered { by }, InputKind::Answered { value, .. }) => {
                    let answer = describe_answer(wait.kind, value);
                    let text = format!("{question} — {answer}");
                    Some(draft_person_event(MemoryEventKind::Message, Some(by), text))
                }
                (WaitResolution::Approved { by, note }, _) => Some(decided("approved", by, note)),
                (WaitResolution::Denied { by, note }, _) => Some(decided("denied", by, note)),
                _ => None,
            }
        }
        RunEvent::EffectFinished { action } => {
            let Some(PendingAction::Effect { effect, .. }) = before.pending.get(action) else {
                return None;
            };
            let InputKind::EffectFinished { result, .. } = incoming? else { return None };
            let (origin, name, what) = describe_effect(effect);
            Some(draft_tool_event(
                origin,
                name,
                format!("{what}: {}", format_text::format_value(result)),
            ))
        }
        RunEvent::DocumentChanged { patch } => {
            let (kind, role, origin) =
                (MemoryEventKind::StatePatch, SpeakerRole::Tool, MemoryOrigin::System);
            Some(MemoryEventDraft {
                kind,
                role,
                origin,
                speaker: None,
                text: format_text::format_patch(patch)?,
            })
        }
        RunEvent::EventEmitted { name, data } => {
            let data = data.as_ref().map_or_else(String::new, format_text::format_value);
            let text = format!("{name} {data}").trim_end().to_owned();
            let (kind, role, origin) =
                (MemoryEventKind::Decision, SpeakerRole::Tool, MemoryOrigin::System);
            Some(MemoryEventDraft { kind, role, origin, speaker: None, text })
        }
        _ => None,
    }
}

/// Drafts the event of an accepted reply, in the words of its author. A person who submits a reply
/// acts in place of the model, and gets no more trust.
fn draft_reply(
    protocol: &Protocol,
    before: &RunState,
    incoming: &InputKind,
) -> Option<MemoryEventDraft> {
    let (speaker, text) = match incoming {
        InputKind::ModelReplied(reply) => (find_agent(protocol, before), &reply.text),
        InputKind::ManualPatch { text, by } => (Some(by.clone()), text),
        _ => return None,
    };
    let (kind, role, origin) =
        (MemoryEventKind::Message, SpeakerRole::Assistant, MemoryOrigin::Model);
    Some(MemoryEventDraft { kind, role, origin, speaker, text: format_text::format_reply(text) })
}

fn find_agent(protocol: &Protocol, before: &RunState) -> Option<String> {
    match &protocol.workflows.get(&before.workflow)?.find_phase(&before.phase)?.work {
        PhaseWork::Agent(work) => Some(work.agent.id.clone()),
        _ => None,
    }
}

fn draft_person_event(
    kind: MemoryEventKind,
    by: Option<&String>,
    text: String,
) -> MemoryEventDraft {
    MemoryEventDraft {
        kind,
        role: SpeakerRole::User,
        origin: MemoryOrigin::User,
        speaker: by.cloned(),
        text,
    }
}

fn draft_tool_event(origin: MemoryOrigin, name: &str, text: String) -> MemoryEventDraft {
    let (kind, speaker) = (MemoryEventKind::ToolResult, Some(name.to_owned()));
    MemoryEventDraft { kind, role: SpeakerRole::Tool, origin, speaker, text }
}

/// Describes an answer in words; a document by its path.
fn describe_answer(kind: WaitKind, value: &Value) -> String {
    let path = value.get("path").and_then(Value::as_str);
    match (kind, path) {
        (WaitKind::Document, Some(path)) => path.to_owned(),
        _ => format_text::format_value(value),
    }
}

fn describe_tool_call(call: &ToolCall) -> String {
    match call {
        ToolCall::Read { path } => format!("read {path}"),
        ToolCall::Write { path, .. } => format!("wrote {path}"),
        ToolCall::List { path } => format!("listed {path}"),
        ToolCall::Search { query, path } => format!("searched {path} for {query}"),
        ToolCall::Skill { name } => format!("read the skill {name}"),
        ToolCall::Mcp { server, name, .. } => format!("called {server}.{name}"),
    }
}

/// Returns the origin of an effect's result, its name, and a short description.
fn describe_effect(effect: &EffectCall) -> (MemoryOrigin, &str, String) {
    match effect {
        EffectCall::Write { path, .. } => (MemoryOrigin::Tool, "write", format!("wrote {path}")),
        EffectCall::Copy { from, to, .. } => {
            (MemoryOrigin::Tool, "copy", format!("copied {from} to {to}"))
        }
        EffectCall::Run { program, .. } => (MemoryOrigin::Tool, program, format!("ran {program}")),
        // The query of an address may contain secrets.
        EffectCall::Http { method, url, .. } => {
            let address = url.split(['?', '#']).next().unwrap_or_default();
            (MemoryOrigin::Web, "http", format!("{method} {address}"))
        }
        EffectCall::Retrieve { source, query } => {
            let query =
                format_text::format_line(&format_text::format_value(query), MAX_QUESTION_CHARS);
            (MemoryOrigin::Web, source, format!("looked up {query}"))
        }
    }
}
