//! What of one version of a run is worth remembering. Pure: a log gives the same events of memory
//! whenever it is read, so that reading it twice writes once.

use countersign_core::protocol::{Protocol, Work};
use countersign_core::run::{
    Closing, Effect, Event, Incoming, Pending, State, Time, ToolCall, WaitKind,
};
use countersign_memory::Scope;
use countersign_memory::record::{EventKind, Origin, Role};
use countersign_memory::store::NewEvent;
use serde_json::Value;

use super::told;

/// How much of a question stands before its answer, in characters.
const QUESTION: usize = 160;

/// A version of a run.
#[derive(Debug, Clone, Copy)]
pub struct Version<'a> {
    /// Its number.
    pub number: u64,
    /// When it came to be.
    pub time: Time,
    /// What became true.
    pub events: &'a [Event],
}

/// What is remembered of a version; `before` is the run as it was until then.
#[must_use]
pub fn lived(
    scope: &Scope,
    protocol: &Protocol,
    before: &State,
    version: Version<'_>,
    now: Time,
) -> Vec<NewEvent> {
    let incoming = version.events.iter().find_map(|event| match event {
        Event::Received { input } => Some(&input.what),
        _ => None,
    });
    // Whatever became true of a reply was written by somebody who had been shown this, and so were
    // the questions that a tool answered.
    let build = match incoming {
        Some(Incoming::ModelReplied(reply)) => reply.build.clone(),
        Some(Incoming::ToolFinished { .. }) => {
            before.step.as_ref().and_then(|step| step.build.clone())
        }
        _ => None,
    };
    let mut said: Vec<Said> = Vec::new();
    for event in version.events {
        said.extend(one(protocol, before, incoming, event));
    }
    let named = (1..).zip(said.into_iter().filter(|said| !said.text.trim().is_empty()));
    let event = |(number, said): (u32, Said)| NewEvent {
        id: format!("{}/{}/{number}", scope.run(), version.number),
        scope: scope.clone(),
        ts: version.time,
        recorded_at: now,
        role: said.role,
        kind: said.kind,
        origin: said.origin,
        speaker: said.speaker,
        text: told::whole(&said.text),
        tags: Vec::new(),
        entities: Vec::new(),
        expires: None,
        build: build.clone(),
        seen_insights: Vec::new(),
    };
    named.map(event).collect()
}

/// Something that was said or done, before it has a name and a time.
struct Said {
    kind: EventKind,
    role: Role,
    origin: Origin,
    speaker: Option<String>,
    text: String,
}

fn one(
    protocol: &Protocol,
    before: &State,
    incoming: Option<&Incoming>,
    event: &Event,
) -> Option<Said> {
    match event {
        Event::Received { input } => match &input.what {
            // What a parent gives its child was said to the parent.
            Incoming::Start(start) if start.parent.is_none() => {
                let text = told::readable(start.input.as_ref()?);
                Some(by_person(EventKind::Message, start.by.as_ref(), text))
            }
            Incoming::ToolFinished { action, ok: true, output } => {
                let Some(Pending::Tool { call }) = before.pending.get(action) else { return None };
                let text = format!("{}: {output}", tool(call));
                Some(by_tool(Origin::Tool, call.name(), text))
            }
            _ => None,
        },
        Event::ReplyAccepted { .. } => replied(protocol, before, incoming?),
        Event::WaitClosed { wait, closing } => {
            let wait = before.waits.get(wait)?;
            let question = told::line(&wait.question, QUESTION);
            let decided = |verb: &str, by: &String, note: &Option<String>| {
                let note = note.as_ref().map_or_else(String::new, |note| format!(" — {note}"));
                by_person(EventKind::Decision, Some(by), format!("{verb}: {question}{note}"))
            };
            match (closing, incoming?) {
                (Closing::Answered { by }, Incoming::Answered { value, .. }) => {
                    let answer = answer(wait.kind, value);
                    let text = format!("{question} — {answer}");
                    Some(by_person(EventKind::Message, Some(by), text))
                }
                (Closing::Approved { by, note }, _) => Some(decided("approved", by, note)),
                (Closing::Denied { by, note }, _) => Some(decided("denied", by, note)),
                _ => None,
            }
        }
        Event::EffectDone { action } => {
            let Some(Pending::Effect { effect, .. }) = before.pending.get(action) else {
                return None;
            };
            let Incoming::EffectFinished { result, .. } = incoming? else { return None };
            let (origin, name, what) = effect_told(effect);
            Some(by_tool(origin, name, format!("{what}: {}", told::readable(result))))
        }
        Event::DocumentChanged { patch } => {
            let (kind, role, origin) = (EventKind::StatePatch, Role::Tool, Origin::System);
            Some(Said { kind, role, origin, speaker: None, text: told::patch(patch)? })
        }
        Event::Announced { name, data } => {
            let data = data.as_ref().map_or_else(String::new, told::readable);
            let text = format!("{name} {data}").trim_end().to_owned();
            let (kind, role, origin) = (EventKind::Decision, Role::Tool, Origin::System);
            Some(Said { kind, role, origin, speaker: None, text })
        }
        _ => None,
    }
}

/// A reply that was accepted, in the words of whoever gave it. Who hands one in stands in a model's
/// place, and is trusted no further than it.
fn replied(protocol: &Protocol, before: &State, incoming: &Incoming) -> Option<Said> {
    let (speaker, text) = match incoming {
        Incoming::ModelReplied(reply) => (agent(protocol, before), &reply.text),
        Incoming::Submitted { text, by } => (Some(by.clone()), text),
        _ => return None,
    };
    let (kind, role, origin) = (EventKind::Message, Role::Assistant, Origin::Model);
    Some(Said { kind, role, origin, speaker, text: told::reply(text) })
}

fn agent(protocol: &Protocol, before: &State) -> Option<String> {
    match &protocol.workflows.get(&before.workflow)?.phase(&before.phase)?.work {
        Work::Agent(work) => Some(work.agent.id.clone()),
        _ => None,
    }
}

fn by_person(kind: EventKind, by: Option<&String>, text: String) -> Said {
    Said { kind, role: Role::User, origin: Origin::User, speaker: by.cloned(), text }
}

fn by_tool(origin: Origin, name: &str, text: String) -> Said {
    let (kind, speaker) = (EventKind::ToolResult, Some(name.to_owned()));
    Said { kind, role: Role::Tool, origin, speaker, text }
}

/// An answer in words: of a document where it lies.
fn answer(kind: WaitKind, value: &Value) -> String {
    let path = value.get("path").and_then(Value::as_str);
    match (kind, path) {
        (WaitKind::Document, Some(path)) => path.to_owned(),
        _ => told::readable(value),
    }
}

fn tool(call: &ToolCall) -> String {
    match call {
        ToolCall::Read { path } => format!("read {path}"),
        ToolCall::Write { path, .. } => format!("wrote {path}"),
        ToolCall::List { path } => format!("listed {path}"),
        ToolCall::Search { query, path } => format!("searched {path} for {query}"),
    }
}

/// Where the result of an effect comes from, its name, and what was done in short.
fn effect_told(effect: &Effect) -> (Origin, &str, String) {
    match effect {
        Effect::Write { path, .. } => (Origin::Tool, "write", format!("wrote {path}")),
        Effect::Copy { from, to, .. } => (Origin::Tool, "copy", format!("copied {from} to {to}")),
        Effect::Run { program, .. } => (Origin::Tool, program, format!("ran {program}")),
        // The query of an address may hold what is nobody's business.
        Effect::Http { method, url, .. } => {
            let place = url.split(['?', '#']).next().unwrap_or_default();
            (Origin::Web, "http", format!("{method} {place}"))
        }
        Effect::Retrieve { source, query } => {
            let query = told::line(&told::readable(query), QUESTION);
            (Origin::Web, source, format!("looked up {query}"))
        }
    }
}
