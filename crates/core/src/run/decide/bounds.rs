//! Bounds: what comes in is measured before it is decided, and every event before it is recorded.
//!
//! Whatever is recorded can be read again. A result of an action that is too deep or too large becomes a
//! failure of that action, so the action ends and its failure policy applies. What a person sends is
//! rejected. The time of an input is never before the time of the run's last one.

use std::borrow::Cow;
use std::fmt;

use super::deciding::Deciding;
use crate::json::{measure_json, nesting};
use crate::limits;
use crate::reply::{Code, Violation};
use crate::run::event::Event;
use crate::run::input::{HookAnswer, Incoming, Input, ModelReply};
use crate::run::{Rejection, State};

/// Something that cannot be recorded, because it could not be read again or is out of proportion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Oversize {
    /// What it is, for a sentence.
    what: String,
    measure: Measure,
    found: usize,
    most: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Depth,
    Bytes,
}

impl Oversize {
    fn depth(what: &str, found: usize, most: usize) -> Option<Self> {
        let over = || Self { what: what.to_owned(), measure: Measure::Depth, found, most };
        (found > most).then(over)
    }

    fn bytes(what: &str, found: usize, most: usize) -> Option<Self> {
        let over = || Self { what: what.to_owned(), measure: Measure::Bytes, found, most };
        (found > most).then(over)
    }

    fn code(&self) -> Code {
        match self.measure {
            Measure::Depth => Code::TooDeep,
            Measure::Bytes => Code::TooLarge,
        }
    }

    /// The same as a fault of a reply.
    pub(super) fn violation(&self) -> Violation {
        let expected = match self.measure {
            Measure::Depth => {
                format!("at most {} levels of nesting in the {}", self.most, self.what)
            }
            Measure::Bytes => format!("at most {} bytes in the {}", self.most, self.what),
        };
        Violation::new(self.code(), "", expected, self.found.to_string())
    }
}

impl fmt::Display for Oversize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, measure, found, most } = self;
        match measure {
            Measure::Depth => {
                write!(out, "the {what} nests {found} levels deep; at most {most} can be kept")
            }
            Measure::Bytes => {
                write!(out, "the {what} has {found} bytes; at most {most} can be kept")
            }
        }
    }
}

impl From<Oversize> for Rejection {
    fn from(over: Oversize) -> Self {
        let Oversize { what, measure, found, most } = over;
        match measure {
            Measure::Depth => Self::TooDeep { what, found, most },
            Measure::Bytes => Self::TooLarge { what, found, most },
        }
    }
}

/// An input as it is recorded: within the bounds, and not before the run's last one.
pub(super) fn admit_input<'i>(
    state: &State,
    input: &'i Input,
) -> Result<Cow<'i, Input>, Rejection> {
    let mut input = Cow::Borrowed(input);
    if input.time < state.updated_at {
        input.to_mut().time = state.updated_at;
    }
    let Some(over) = measure_input(&input) else { return Ok(input) };
    match fail_result(&input.what, &over) {
        Some(failed) => input.to_mut().what = failed,
        None => return Err(over.into()),
    }
    Ok(input)
}

/// What is too deep or too large about an input.
fn measure_input(input: &Input) -> Option<Oversize> {
    let values = match &input.what {
        Incoming::Start(start) => {
            vec![("document", start.document.as_ref()), ("input", start.input.as_ref())]
        }
        Incoming::Answered { value, .. } => vec![("answer", Some(value))],
        Incoming::EffectFinished { result, .. } => vec![("result", Some(result))],
        Incoming::ChildEnded { document, .. } => vec![("document", Some(document))],
        Incoming::HookFinished { answer: HookAnswer::Patch { ops }, .. } => {
            vec![("patch", Some(ops))]
        }
        _ => Vec::new(),
    };
    let depth = |(what, value): (&str, Option<&serde_json::Value>)| {
        Oversize::depth(what, value.map_or(0, nesting), limits::MAX_RECORDED_DEPTH)
    };
    values.into_iter().find_map(depth).or_else(|| {
        let bytes = measure_json(input).bytes;
        Oversize::bytes(name(&input.what), bytes, limits::MAX_INPUT_BYTES)
    })
}

/// The word for an input in a sentence about its size.
fn name(what: &Incoming) -> &'static str {
    match what {
        Incoming::ModelReplied(_) => "reply",
        Incoming::EffectFinished { .. } => "result",
        Incoming::ToolFinished { .. } => "output",
        Incoming::HookFinished { .. } => "hook's answer",
        Incoming::ChildEnded { .. } => "document",
        Incoming::Answered { .. } => "answer",
        Incoming::ModelFailed { .. } | Incoming::EffectFailed { .. } => "message",
        _ => "input",
    }
}

/// The failure that a result becomes which cannot be recorded; `None` for what is no result of an action.
pub(super) fn fail_result(what: &Incoming, over: &Oversize) -> Option<Incoming> {
    let (failure, message) = (over.code().to_string(), over.to_string());
    Some(match what {
        Incoming::ModelReplied(reply) => {
            let ModelReply { action, exchange, .. } = &**reply;
            let (action, exchange) = (action.clone(), exchange.clone());
            // The next reply may be shorter; the budget of provider failures bounds the tries.
            let (retryable, retry_after) = (true, None);
            Incoming::ModelFailed { action, failure, message, retryable, retry_after, exchange }
        }
        Incoming::ModelFailed { action, retryable, retry_after, exchange, .. } => {
            Incoming::ModelFailed {
                action: action.clone(),
                failure,
                message,
                retryable: *retryable,
                retry_after: *retry_after,
                exchange: exchange.clone(),
            }
        }
        Incoming::EffectFinished { action, .. } | Incoming::EffectFailed { action, .. } => {
            let (action, retryable) = (action.clone(), false);
            Incoming::EffectFailed { action, failure, message, retryable }
        }
        Incoming::ToolFinished { action, .. } => {
            Incoming::ToolFinished { action: action.clone(), ok: false, output: message }
        }
        Incoming::HookFinished { action, .. } => {
            let answer = HookAnswer::Abort { reason: message };
            Incoming::HookFinished { action: action.clone(), answer }
        }
        Incoming::ChildEnded { action, .. } => Incoming::ChildEnded {
            action: action.clone(),
            completed: false,
            reason: Some(message),
            document: serde_json::Value::Null,
        },
        _ => return None,
    })
}

impl Deciding<'_> {
    /// Measures an event before it is recorded. The first one that cannot be is remembered, and the whole
    /// decision is made otherwise then.
    pub(super) fn measure_event(&mut self, event: &Event) {
        // What came in was measured when it entered.
        if self.over.is_some() || matches!(event, Event::Received { .. }) {
            return;
        }
        let size = measure_json(event);
        self.bytes += size.bytes;
        let what = format!("event `{}`", event.kind());
        self.over = Oversize::depth(&what, size.depth, limits::MAX_EVENT_DEPTH)
            .or_else(|| Oversize::bytes(&what, size.bytes, limits::MAX_EVENT_BYTES))
            .or_else(|| Oversize::bytes("version", self.bytes, limits::MAX_VERSION_BYTES));
    }
}

/// A text that an event quotes, short enough to be quoted.
pub(super) fn clip(text: impl Into<String>) -> String {
    let text = text.into();
    match text.char_indices().nth(limits::MAX_REASON_CHARS) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The items of a list that its event keeps, and how many more there are.
pub(super) fn keep_listed<T: Clone>(list: &[T]) -> (Vec<T>, usize) {
    let kept = &list[..list.len().min(limits::MAX_LISTED)];
    (kept.to_vec(), list.len() - kept.len())
}
