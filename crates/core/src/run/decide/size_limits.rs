//! Bounds: what comes in is measured before it is decided, and every event before it is recorded.
//!
//! Whatever is recorded can be read again. A result of an action that is too deep or too large becomes a
//! failure of that action, so the action ends and its failure policy applies. What a person sends is
//! rejected. The time of an input is never before the time of the run's last one.

use std::borrow::Cow;
use std::fmt;

use super::run_decision::RunDecision;
use crate::json::{measure_depth, measure_json};
use crate::limits;
use crate::reply::{Code, Violation};
use crate::run::event::RunEvent;
use crate::run::input::{HookAnswer, InputKind, ModelReply, RunInput};
use crate::run::{InputRejection, RunState};

/// Something that cannot be recorded, because it could not be read again or is out of proportion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SizeLimitExceeded {
    /// What it is, for a sentence.
    what: String,
    measure: SizeMeasure,
    actual: usize,
    limit: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SizeMeasure {
    Depth,
    Bytes,
}

impl SizeLimitExceeded {
    fn check_depth(what: &str, found: usize, most: usize) -> Option<Self> {
        let over = || Self {
            what: what.to_owned(),
            measure: SizeMeasure::Depth,
            actual: found,
            limit: most,
        };
        (found > most).then(over)
    }

    fn check_bytes(what: &str, found: usize, most: usize) -> Option<Self> {
        let over = || Self {
            what: what.to_owned(),
            measure: SizeMeasure::Bytes,
            actual: found,
            limit: most,
        };
        (found > most).then(over)
    }

    fn code(&self) -> Code {
        match self.measure {
            SizeMeasure::Depth => Code::TooDeep,
            SizeMeasure::Bytes => Code::TooLarge,
        }
    }

    /// The same as a fault of a reply.
    pub(super) fn to_violation(&self) -> Violation {
        let expected = match self.measure {
            SizeMeasure::Depth => {
                format!("at most {} levels of nesting in the {}", self.limit, self.what)
            }
            SizeMeasure::Bytes => format!("at most {} bytes in the {}", self.limit, self.what),
        };
        Violation::new(self.code(), "", expected, self.actual.to_string())
    }
}

impl fmt::Display for SizeLimitExceeded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, measure, actual: found, limit: most } = self;
        match measure {
            SizeMeasure::Depth => {
                write!(out, "the {what} nests {found} levels deep; at most {most} can be kept")
            }
            SizeMeasure::Bytes => {
                write!(out, "the {what} has {found} bytes; at most {most} can be kept")
            }
        }
    }
}

impl From<SizeLimitExceeded> for InputRejection {
    fn from(over: SizeLimitExceeded) -> Self {
        let SizeLimitExceeded { what, measure, actual: found, limit: most } = over;
        match measure {
            SizeMeasure::Depth => Self::TooDeep { what, found, limit: most },
            SizeMeasure::Bytes => Self::TooLarge { what, found, limit: most },
        }
    }
}

/// An input as it is recorded: within the bounds, and not before the run's last one.
pub(super) fn admit_input<'i>(
    state: &RunState,
    input: &'i RunInput,
) -> Result<Cow<'i, RunInput>, InputRejection> {
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
fn measure_input(input: &RunInput) -> Option<SizeLimitExceeded> {
    let values = match &input.what {
        InputKind::Start(start) => {
            vec![("document", start.document.as_ref()), ("input", start.input.as_ref())]
        }
        InputKind::Answered { value, .. } => vec![("answer", Some(value))],
        InputKind::EffectFinished { result, .. } => vec![("result", Some(result))],
        InputKind::ChildEnded { document, .. } => vec![("document", Some(document))],
        InputKind::HookFinished { answer: HookAnswer::Patch { ops }, .. } => {
            vec![("patch", Some(ops))]
        }
        _ => Vec::new(),
    };
    let depth = |(what, value): (&str, Option<&serde_json::Value>)| {
        SizeLimitExceeded::check_depth(
            what,
            value.map_or(0, measure_depth),
            limits::MAX_RECORDED_DEPTH,
        )
    };
    values.into_iter().find_map(depth).or_else(|| {
        let bytes = measure_json(input).bytes;
        SizeLimitExceeded::check_bytes(describe_input(&input.what), bytes, limits::MAX_INPUT_BYTES)
    })
}

/// The word for an input in a sentence about its size.
fn describe_input(what: &InputKind) -> &'static str {
    match what {
        InputKind::ModelReplied(_) => "reply",
        InputKind::EffectFinished { .. } => "result",
        InputKind::ToolFinished { .. } => "output",
        InputKind::HookFinished { .. } => "hook's answer",
        InputKind::ChildEnded { .. } => "document",
        InputKind::Answered { .. } => "answer",
        InputKind::ModelFailed { .. } | InputKind::EffectFailed { .. } => "message",
        _ => "input",
    }
}

/// The failure that a result becomes which cannot be recorded; `None` for what is no result of an action.
pub(super) fn fail_result(what: &InputKind, over: &SizeLimitExceeded) -> Option<InputKind> {
    let (failure, message) = (over.code().to_string(), over.to_string());
    Some(match what {
        InputKind::ModelReplied(reply) => {
            let ModelReply { action, exchange, .. } = &**reply;
            let (action, exchange) = (action.clone(), exchange.clone());
            // The next reply may be shorter; the budget of provider failures bounds the tries.
            let (retryable, retry_after) = (true, None);
            InputKind::ModelFailed { action, failure, message, retryable, retry_after, exchange }
        }
        InputKind::ModelFailed { action, retryable, retry_after, exchange, .. } => {
            InputKind::ModelFailed {
                action: action.clone(),
                failure,
                message,
                retryable: *retryable,
                retry_after: *retry_after,
                exchange: exchange.clone(),
            }
        }
        InputKind::EffectFinished { action, .. } | InputKind::EffectFailed { action, .. } => {
            let (action, retryable) = (action.clone(), false);
            InputKind::EffectFailed { action, failure, message, retryable }
        }
        InputKind::ToolFinished { action, .. } => {
            InputKind::ToolFinished { action: action.clone(), ok: false, output: message }
        }
        InputKind::HookFinished { action, .. } => {
            let answer = HookAnswer::Abort { reason: message };
            InputKind::HookFinished { action: action.clone(), answer }
        }
        InputKind::ChildEnded { action, .. } => InputKind::ChildEnded {
            action: action.clone(),
            completed: false,
            reason: Some(message),
            document: serde_json::Value::Null,
        },
        _ => return None,
    })
}

impl RunDecision<'_> {
    /// Measures an event before it is recorded. The first one that cannot be is remembered, and the whole
    /// decision is made otherwise then.
    pub(super) fn measure_event(&mut self, event: &RunEvent) {
        // What came in was measured when it entered.
        if self.limit_exceeded.is_some() || matches!(event, RunEvent::Received { .. }) {
            return;
        }
        let size = measure_json(event);
        self.event_bytes += size.bytes;
        let what = format!("event `{}`", event.kind());
        self.limit_exceeded =
            SizeLimitExceeded::check_depth(&what, size.depth, limits::MAX_EVENT_DEPTH)
                .or_else(|| {
                    SizeLimitExceeded::check_bytes(&what, size.bytes, limits::MAX_EVENT_BYTES)
                })
                .or_else(|| {
                    SizeLimitExceeded::check_bytes(
                        "version",
                        self.event_bytes,
                        limits::MAX_VERSION_BYTES,
                    )
                });
    }
}

/// A text that an event quotes, short enough to be quoted.
pub(super) fn clip_text(text: impl Into<String>) -> String {
    let text = text.into();
    match text.char_indices().nth(limits::MAX_REASON_CHARS) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The items of a list that its event keeps, and how many more there are.
pub(super) fn truncate_list<T: Clone>(list: &[T]) -> (Vec<T>, usize) {
    let kept = &list[..list.len().min(limits::MAX_LISTED_REPAIRS)];
    (kept.to_vec(), list.len() - kept.len())
}
