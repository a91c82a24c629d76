//! Size limits: measures every input before it is decided, and every event before it is recorded.
//!
//! Everything that is recorded can be read again. A result of an action that is too deep or too
//! large becomes a failure of that action, so the action ends and its failure policy applies. An
//! oversize input from a person is rejected. The time of an input is never before the time of the
//! run's last one.

use std::borrow::Cow;
use std::fmt;

use countersign_contract::json::{measure_depth, measure_json};
use countersign_contract::limits;
use countersign_contract::reply::{Violation, ViolationCode};

use super::run_decision::RunDecision;
use crate::event::RunEvent;
use crate::input::{HookAnswer, InputKind, ModelReply, RunInput};
use crate::{InputRejection, RunState};

/// A value that cannot be recorded, because it is too deep to be read again or too large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SizeLimitExceeded {
    /// The kind of value, as a noun for messages: `reply`, `document`.
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

    fn code(&self) -> ViolationCode {
        match self.measure {
            SizeMeasure::Depth => ViolationCode::TooDeep,
            SizeMeasure::Bytes => ViolationCode::TooLarge,
        }
    }

    /// The exceeded limit as a violation of a reply.
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
                write!(out, "the {what} is nested {found} levels deep; the limit is {most}")
            }
            SizeMeasure::Bytes => {
                write!(out, "the {what} has {found} bytes; the limit is {most}")
            }
        }
    }
}

impl From<SizeLimitExceeded> for InputRejection {
    fn from(over: SizeLimitExceeded) -> Self {
        let SizeLimitExceeded { what, measure, actual: found, limit: most } = over;
        match measure {
            SizeMeasure::Depth => Self::TooDeep { part: what, found, limit: most },
            SizeMeasure::Bytes => Self::TooLarge { part: what, found, limit: most },
        }
    }
}

/// Returns the input as it is recorded: within the limits, and not before the run's last input.
pub(super) fn admit_input<'i>(
    state: &RunState,
    input: &'i RunInput,
) -> Result<Cow<'i, RunInput>, InputRejection> {
    let mut input = Cow::Borrowed(input);
    if input.time < state.updated_at {
        input.to_mut().time = state.updated_at;
    }
    let Some(over) = measure_input(&input) else { return Ok(input) };
    match fail_result(&input.payload, &over) {
        Some(failed) => input.to_mut().payload = failed,
        None => return Err(over.into()),
    }
    Ok(input)
}

/// Returns the first limit that an input exceeds, if any.
fn measure_input(input: &RunInput) -> Option<SizeLimitExceeded> {
    let values = match &input.payload {
        InputKind::Start(start) => {
            vec![("document", start.document.as_ref()), ("input", start.input.as_ref())]
        }
        InputKind::Answered { value, .. } => vec![("answer", Some(value))],
        InputKind::EffectFinished { result, .. } => vec![("result", Some(result))],
        InputKind::ChildEnded { document, .. } => vec![("document", Some(document))],
        InputKind::McpToolsListed { tools, .. } => {
            tools.iter().map(|tool| ("schema", Some(&tool.input_schema))).collect()
        }
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
        SizeLimitExceeded::check_bytes(
            describe_input(&input.payload),
            bytes,
            limits::MAX_INPUT_BYTES,
        )
    })
}

/// The noun for an input in a message about its size.
fn describe_input(input: &InputKind) -> &'static str {
    match input {
        InputKind::ModelReplied(_) => "reply",
        InputKind::EffectFinished { .. } => "result",
        InputKind::ToolFinished { .. } => "output",
        InputKind::McpToolsListed { .. } => "tool list",
        InputKind::HookFinished { .. } => "hook's answer",
        InputKind::ChildEnded { .. } => "document",
        InputKind::Answered { .. } => "answer",
        InputKind::ModelFailed { .. }
        | InputKind::EffectFailed { .. }
        | InputKind::McpToolsUnavailable { .. }
        | InputKind::DeliveryFailed { .. } => "message",
        _ => "input",
    }
}

/// Turns an oversize result of an action into a failure of that action; `None` if the input is not
/// a result of an action.
pub(super) fn fail_result(input: &InputKind, over: &SizeLimitExceeded) -> Option<InputKind> {
    let (failure, message) = (over.code().to_string(), over.to_string());
    Some(match input {
        InputKind::ModelReplied(reply) => {
            let ModelReply { action, exchange, .. } = &**reply;
            let (action, exchange) = (action.clone(), exchange.clone());
            // The next reply may be shorter; the budget of provider failures limits the attempts.
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
        InputKind::McpToolsListed { action, .. }
        | InputKind::McpToolsUnavailable { action, .. } => {
            let (action, retryable) = (action.clone(), false);
            InputKind::McpToolsUnavailable { action, failure, message, retryable }
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
    /// Measures an event before it is recorded. The first exceeded limit is kept in
    /// `limit_exceeded`, and the whole decision is then repeated as a failure.
    pub(super) fn measure_event(&mut self, event: &RunEvent) {
        // The recorded input was measured by `admit_input`.
        if self.limit_exceeded.is_some() || matches!(event, RunEvent::InputReceived { .. }) {
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

/// Truncates a text that an event quotes to `MAX_REASON_CHARS` characters.
pub(super) fn clip_text(text: impl Into<String>) -> String {
    let text = text.into();
    match text.char_indices().nth(limits::MAX_REASON_CHARS) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns the first `MAX_LISTED_REPAIRS` items of a list, and how many more there are.
pub(super) fn truncate_list<T: Clone>(list: &[T]) -> (Vec<T>, usize) {
    let kept = &list[..list.len().min(limits::MAX_LISTED_REPAIRS)];
    (kept.to_vec(), list.len() - kept.len())
}
