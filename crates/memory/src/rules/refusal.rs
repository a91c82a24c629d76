//! Reasons for refusing a claim. Messages contain ids and never the words of a claim.

use countersign_shipped_contracts::memory::insight::InsightValidationState;
use serde::Serialize;

use crate::record::MemoryOrigin;

/// Returns the serialized name, as users write it.
fn serialized_name(name: &impl Serialize) -> String {
    let name = serde_json::to_value(name).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// Suggests an alternative to callers that did not choose the id themselves.
fn suggest_alternative(kind: &str) -> &'static str {
    match kind {
        "working state" => "; use another run",
        "summary" => "; use another session",
        _ => "",
    }
}

/// The reason why a claim was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryRefusal {
    /// The claim cites an event that the subject does not have.
    #[error("it cites event `{event}`, which does not exist")]
    UnknownEvent {
        /// The id of the cited event.
        event: String,
    },
    /// The quote does not occur in the event.
    #[error("its quote does not occur exactly in event `{event}`")]
    QuoteNotInEvent {
        /// The id of the cited event.
        event: String,
    },
    /// The origin of the claim requires a quote, and the claim has none.
    #[error(
        "a claim of origin `{}` must quote the event that supports it",
        serialized_name(origin)
    )]
    NoQuote {
        /// The origin of the claim.
        origin: MemoryOrigin,
    },
    /// The claim would be visible to other subjects and nobody has confirmed it.
    #[error(
        "a claim of origin `{}` is stored for an agent or a tenant only if it is confirmed",
        serialized_name(origin)
    )]
    SharedUnconfirmed {
        /// The origin of the claim.
        origin: MemoryOrigin,
    },
    /// A part of the claim has an invalid value.
    #[error("`{part}` must be {expected}")]
    Malformed {
        /// The name of the invalid part.
        part: String,
        /// A description of the allowed values.
        expected: String,
    },
    /// The insight is not validated, so it cannot become knowledge.
    #[error("insight `{insight}` is {}, expected validated", serialized_name(found))]
    NotValidated {
        /// The id of the insight.
        insight: String,
        /// The current validation state of the insight.
        found: InsightValidationState,
    },
    /// An insight can become a fact or a procedure only.
    #[error("an insight can become only a fact or a procedure, found `{found}`")]
    NotLearnable {
        /// The kind of row that it should have become.
        found: String,
    },
    /// A different row with this id exists.
    #[error("{kind} `{id}` already exists with different content")]
    Differs {
        /// The kind of the row.
        kind: String,
        /// The id of the existing row.
        id: String,
    },
    /// The row was erased on request and cannot be written again.
    #[error("{kind} `{id}` was forgotten{}", suggest_alternative(kind))]
    Forgotten {
        /// The kind of the erased row.
        kind: String,
        /// The id of the erased row.
        id: String,
    },
}

impl MemoryRefusal {
    /// Creates a [`MemoryRefusal::Malformed`].
    pub(crate) fn malformed(part: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Malformed { part: part.into(), expected: expected.into() }
    }
}
