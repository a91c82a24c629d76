//! Why there is no answer, and whether asking again may help. Not the asking again.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::ModelExchange;

/// A call that gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{model}`: {kind}")]
pub struct ModelError {
    /// The model that was asked, as the user named it.
    pub model: String,
    /// What went wrong.
    pub kind: ModelErrorKind,
    /// What went over the wire until then, where anything did.
    pub exchange: Option<Box<ModelExchange>>,
}

/// What went wrong with a call.
///
/// A `message` is the provider's own, on one line, shortened, keys blotted out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelErrorKind {
    /// Too many calls, or too many tokens, in too short a time.
    #[error("the provider asks to slow down{}", ColonSuffix(message))]
    RateLimited {
        /// How long the provider wants to be left alone.
        retry_after: Option<Duration>,
        /// What it said.
        message: String,
    },
    /// The provider is there and cannot answer now.
    #[error("the provider cannot answer now (status {status}){}", ColonSuffix(message))]
    Overloaded {
        /// The status it gave; 200 where it failed in the middle of an answer.
        status: u16,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
        /// What it said.
        message: String,
    },
    /// Nothing came in time.
    #[error("{stage} took longer than {}", SecondsDisplay(*limit))]
    TimedOut {
        /// What was waited for.
        stage: TimeoutStage,
        /// The limit.
        limit: Duration,
    },
    /// There was no connection, or it broke before an answer began.
    #[error("no connection: {reason}")]
    Unreachable {
        /// The cause, in the words of the system.
        reason: String,
    },
    /// The provider will not take this request, now or later.
    #[error(
        "the provider refused the request (status {status}{}){}",
        CommaSuffix(code),
        ColonSuffix(message)
    )]
    Refused {
        /// The status it gave.
        status: u16,
        /// Its own word for the reason; empty where it has none.
        code: String,
        /// What it said.
        message: String,
    },
    /// Something came that is no whole answer.
    #[error("the answer cannot be used: {defect}")]
    BadAnswer {
        /// What is wrong with it.
        defect: ResponseDefect,
    },
    /// The provider, or the model, declined to write this.
    #[error("the provider withheld the answer (`{reason}`)")]
    ContentFiltered {
        /// Its own word for the reason.
        reason: String,
    },
    /// A script has no more replies.
    #[error("the script is at its end: it has {}{}, and call {} has none", ReplyCount(*entries), LabelSuffix(label.as_deref()), calls_before + 1)]
    ScriptEnded {
        /// How many it had.
        entries: usize,
        /// Under which label, where the script has labels.
        label: Option<String>,
        /// How many calls were made before this one.
        calls_before: usize,
    },
    /// The next reply of a script is meant for another question.
    #[error("entry {entry} of the script is for `{expected}`, but {found} asked")]
    ScriptAstray {
        /// Which reply, counted from 1.
        entry: usize,
        /// Whom it is for.
        expected: String,
        /// Who asked instead.
        found: String,
    },
    /// A person plays this model, and answers in their own time.
    #[error("a person has to answer")]
    NeedsPerson,
}

/// What was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutStage {
    /// The connection.
    Connect,
    /// The beginning of the response.
    FirstByte,
    /// More of the response.
    NextByte,
    /// The whole answer.
    Total,
}

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ResponseDefect {
    /// The connection ended before the answer did.
    #[error("it breaks off before its end")]
    Truncated,
    /// This is not the language the provider should speak.
    #[error("expected {expected}, found {found}")]
    UnexpectedFormat {
        /// What should have come.
        expected: &'static str,
        /// What came; never its text.
        found: String,
    },
    /// More came than anybody wants to keep.
    #[error("it is longer than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The model asks for a tool, and none was offered.
    #[error("it asks for a tool, and none was offered")]
    UnexpectedToolCall,
    /// The provider stopped, and did not say why in a way that lets the text be used.
    #[error("the provider stopped it (`{reason}`)")]
    Stopped {
        /// Its own word for the reason.
        reason: String,
    },
}

impl ModelError {
    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.kind.is_retryable()
    }

    /// How long the provider wants to be left alone, where it said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.kind.retry_after()
    }

    /// A stable word for logs and programs.
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
            Self::BadAnswer { defect: flaw } => {
                matches!(
                    flaw,
                    ResponseDefect::Truncated
                        | ResponseDefect::UnexpectedFormat { .. }
                        | ResponseDefect::Stopped { .. }
                )
            }
            Self::Refused { .. }
            | Self::ContentFiltered { .. }
            | Self::ScriptEnded { .. }
            | Self::ScriptAstray { .. }
            | Self::NeedsPerson => false,
        }
    }

    /// How long the provider wants to be left alone, where it said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Overloaded { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// A stable word for logs and programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate_limited",
            Self::Overloaded { .. } => "overloaded",
            Self::TimedOut { .. } => "timed_out",
            Self::Unreachable { .. } => "unreachable",
            Self::Refused { .. } => "refused",
            Self::BadAnswer { .. } => "bad_answer",
            Self::ContentFiltered { .. } => "content_filtered",
            Self::ScriptEnded { .. } => "script_ended",
            Self::ScriptAstray { .. } => "script_astray",
            Self::NeedsPerson => "needs_person",
        }
    }

    /// The same with every text from outside passed through `clean`.
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
            | Self::BadAnswer {
                defect:
                    ResponseDefect::UnexpectedFormat { found: text, .. }
                    | ResponseDefect::Stopped { reason: text },
            } => *text = clean(text),
            Self::BadAnswer { .. }
            | Self::TimedOut { .. }
            | Self::ScriptEnded { .. }
            | Self::ScriptAstray { .. }
            | Self::NeedsPerson => {}
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
