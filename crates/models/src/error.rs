//! Why a call returned no response, and whether a retry may help. The caller does the retry.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::ModelExchange;

/// A call that returned no response.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{model}`: {kind}")]
pub struct ModelError {
    /// The model that was called, as the user named it.
    pub model: String,
    /// What went wrong.
    pub kind: ModelErrorKind,
    /// The bytes of request and response up to the failure; `None` if nothing was sent.
    pub exchange: Option<Box<ModelExchange>>,
}

/// What went wrong with a call.
///
/// A `message` is the provider's own text, on one line, shortened, with keys redacted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// Too many calls, or too many tokens, in too short a time.
    #[error("the provider asks to slow down{}", ColonSuffix(message))]
    RateLimited {
        /// How long the provider asks to wait; `None` if it does not say.
        retry_after: Option<Duration>,
        /// The provider's error message.
        message: String,
    },
    /// The provider is reachable but cannot respond now.
    #[error("the provider cannot answer now (status {status}){}", ColonSuffix(message))]
    Overloaded {
        /// HTTP status; 200 if the provider failed in the middle of a response.
        status: u16,
        /// How long the provider asks to wait; `None` if it does not say.
        retry_after: Option<Duration>,
        /// The provider's error message.
        message: String,
    },
    /// A time limit was exceeded.
    #[error("{stage} took longer than {}", SecondsDisplay(*limit))]
    TimedOut {
        /// What the call was waiting for.
        stage: TimeoutStage,
        /// The limit that was exceeded.
        limit: Duration,
    },
    /// No connection could be made, or it broke before a response began.
    #[error("no connection: {reason}")]
    Unreachable {
        /// The cause, as the system reports it.
        reason: String,
    },
    /// The provider does not accept this request, now or later.
    #[error(
        "the provider refused the request (status {status}{}){}",
        CommaSuffix(code),
        ColonSuffix(message)
    )]
    Refused {
        /// HTTP status of the response.
        status: u16,
        /// The provider's error code; empty if it has none.
        code: String,
        /// The provider's error message.
        message: String,
    },
    /// The response is not complete or not valid.
    #[error("the answer cannot be used: {defect}")]
    InvalidResponse {
        /// What is wrong with the response.
        defect: ResponseDefect,
    },
    /// The provider, or the model, declined to generate this content.
    #[error("the provider withheld the answer (`{reason}`)")]
    ContentFiltered {
        /// The provider's own term for the reason.
        reason: String,
    },
    /// A script has no more replies.
    #[error("the script has no reply left: it has {}{}, and this is call {}", ReplyCount(*entries), LabelSuffix(label.as_deref()), calls_before + 1)]
    ScriptExhausted {
        /// Number of replies that the script has.
        entries: usize,
        /// Label of the replies; `None` if the script has no labels.
        label: Option<String>,
        /// Number of calls before this one.
        calls_before: usize,
    },
    /// The next reply of a script is meant for another request.
    #[error("entry {entry} of the script is for `{expected}`, but the request is for {found}")]
    ScriptMismatch {
        /// Number of the reply, counted from 1.
        entry: usize,
        /// Label or contract that the reply is meant for.
        expected: String,
        /// Label and contract of the request.
        found: String,
    },
    /// The next reply of a script is about another input.
    #[error(
        "a script plays the model, and its next reply fits only a text with `{expected}`{}; start a run with an example of the script, or name a real model",
        KnownInputs(known)
    )]
    ScriptInputUnknown {
        /// The text that the messages do not contain.
        expected: String,
        /// Inputs and answers that the script knows.
        known: Vec<String>,
    },
    /// A person acts as this model and replies later.
    #[error("a person must answer")]
    HumanRequired,
}

/// What a call was waiting for when it timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutStage {
    /// The connection to the provider.
    Connect,
    /// The beginning of the response.
    FirstByte,
    /// More of the response.
    NextByte,
    /// The end of the response, from the start of the call.
    Total,
}

/// What is wrong with a response.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ResponseDefect {
    /// The connection ended before the response did.
    #[error("it is incomplete")]
    Truncated,
    /// The response is not in the provider's format.
    #[error("expected {expected}, found {found}")]
    UnexpectedFormat {
        /// The format that was expected.
        expected: &'static str,
        /// What was found instead; never the text itself.
        found: String,
    },
    /// The response exceeds the size limit.
    #[error("it is longer than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The model calls a tool, and the request offered none.
    #[error("it calls a tool, but the request offered none")]
    UnexpectedToolCall,
    /// The provider stopped generating, for a reason that does not allow the text to be used.
    #[error("the provider stopped it (`{reason}`)")]
    Stopped {
        /// The provider's own term for the reason.
        reason: String,
    },
}

impl ModelError {
    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }

    /// How long the provider asks to wait; `None` if it does not say.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.kind.retry_after()
    }

    /// Returns a stable code for logs and programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }
}

impl ModelErrorKind {
    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::TimedOut { .. }
            | Self::Unreachable { .. } => true,
            Self::InvalidResponse { defect: flaw } => {
                matches!(
                    flaw,
                    ResponseDefect::Truncated
                        | ResponseDefect::UnexpectedFormat { .. }
                        | ResponseDefect::Stopped { .. }
                )
            }
            Self::Refused { .. }
            | Self::ContentFiltered { .. }
            | Self::ScriptExhausted { .. }
            | Self::ScriptMismatch { .. }
            | Self::ScriptInputUnknown { .. }
            | Self::HumanRequired => false,
        }
    }

    /// How long the provider asks to wait; `None` if it does not say.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Overloaded { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// Returns a stable code for logs and programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate_limited",
            Self::Overloaded { .. } => "overloaded",
            Self::TimedOut { .. } => "timed_out",
            Self::Unreachable { .. } => "unreachable",
            Self::Refused { .. } => "refused",
            Self::InvalidResponse { .. } => "invalid_response",
            Self::ContentFiltered { .. } => "content_filtered",
            Self::ScriptExhausted { .. } => "script_exhausted",
            Self::ScriptMismatch { .. } => "script_mismatch",
            Self::ScriptInputUnknown { .. } => "script_input_unknown",
            Self::HumanRequired => "human_required",
        }
    }

    /// Applies `clean` to every text that comes from outside.
    #[must_use]
    pub(crate) fn map_texts(mut self, clean: &dyn Fn(&str) -> String) -> Self {
        match &mut self {
            Self::RateLimited { message, .. } | Self::Overloaded { message, .. } => {
                *message = clean(message);
            }
            Self::Refused { code, message, .. } => {
                *code = clean(code);
                *message = clean(message);
            }
            Self::Unreachable { reason: text }
            | Self::ContentFiltered { reason: text }
            | Self::InvalidResponse {
                defect:
                    ResponseDefect::UnexpectedFormat { found: text, .. }
                    | ResponseDefect::Stopped { reason: text },
            } => *text = clean(text),
            Self::InvalidResponse { .. }
            | Self::TimedOut { .. }
            | Self::ScriptExhausted { .. }
            | Self::ScriptMismatch { .. }
            | Self::ScriptInputUnknown { .. }
            | Self::HumanRequired => {}
        }
        self
    }
}

impl fmt::Display for TimeoutStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "the connection",
            Self::FirstByte => "the first byte of the answer",
            Self::NextByte => "the next part of the answer",
            Self::Total => "the whole answer",
        })
    }
}

struct ColonSuffix<'t>(&'t str);

impl fmt::Display for ColonSuffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

struct CommaSuffix<'t>(&'t str);

impl fmt::Display for CommaSuffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ", `{}`", self.0) }
    }
}

/// Names at most three inputs that a script knows, each in at most 80 characters.
struct KnownInputs<'t>(&'t [String]);

impl fmt::Display for KnownInputs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, known) in self.0.iter().take(3).enumerate() {
            let first = known.lines().next().unwrap_or_default();
            let short: String = first.chars().take(80).collect();
            let cut = if short.len() < known.len() { "…" } else { "" };
            f.write_str(if index == 0 { "; it knows " } else { ", " })?;
            write!(f, "`{short}{cut}`")?;
        }
        Ok(())
    }
}

struct LabelSuffix<'t>(Option<&'t str>);

impl fmt::Display for LabelSuffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |label| write!(f, " under `{label}`"))
    }
}

struct ReplyCount(usize);

impl fmt::Display for ReplyCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("no replies"),
            1 => f.write_str("1 reply"),
            many => write!(f, "{many} replies"),
        }
    }
}

struct SecondsDisplay(Duration);

impl fmt::Display for SecondsDisplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}
