//! Why a claim is not kept. Names ids, never the words of a claim.

use countersign_contracts::memory::insight::InsightValidationState;
use serde::Serialize;

use crate::record::MemoryOrigin;

/// A name as users write it.
fn serialized_name(name: &impl Serialize) -> String {
    let name = serde_json::to_value(name).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// What whoever comes back can do where they never chose the id.
fn suggest_alternative(kind: &str) -> &'static str {
    match kind {
        "working state" => "; another run begins anew",
        "summary" => "; another session begins anew",
        _ => "",
    }
}

/// Why a claim is not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryRefusal {
    /// It cites an event that this subject does not have.
    #[error("it cites `{event}`, and there is no such event")]
    UnknownEvent {
        /// The event.
        event: String,
    },
    /// Its quote is not what was said.
    #[error("its quote does not stand letter for letter in `{event}`")]
    QuoteNotInEvent {
        /// The event.
        event: String,
    },
    /// It comes from where words must be shown, and shows none.
    #[error("a claim of origin `{}` must quote the event it rests on", serialized_name(origin))]
    NoQuote {
        /// Where it comes from.
        origin: MemoryOrigin,
    },
    /// It would be seen by others than its subject, and nobody answers for it.
    #[error(
        "a claim of origin `{}` is kept for an agent or a tenant only when it is confirmed",
        serialized_name(origin)
    )]
    SharedUnconfirmed {
        /// Where it comes from.
        origin: MemoryOrigin,
    },
    /// A part of it cannot be.
    #[error("`{part}` must be {expected}")]
    Malformed {
        /// Which part.
        part: String,
        /// What it must be.
        expected: String,
    },
    /// A guess is not yet knowledge.
    #[error("insight `{insight}` is {}, expected validated", serialized_name(found))]
    NotValidated {
        /// The guess.
        insight: String,
        /// How far it has been tested.
        found: InsightValidationState,
    },
    /// A guess becomes a fact or a procedure, and nothing else.
    #[error("an insight becomes a fact or a procedure, found `{found}`")]
    NotLearnable {
        /// What it was to become.
        found: String,
    },
    /// There is another one with this id.
    #[error("{kind} `{id}` is there already and says something else")]
    Differs {
        /// What it is.
        kind: String,
        /// Its id.
        id: String,
    },
    /// It was forgotten on demand, and does not come back.
    #[error("{kind} `{id}` was forgotten{}", suggest_alternative(kind))]
    Forgotten {
        /// What it is.
        kind: String,
        /// Its id.
        id: String,
    },
}

impl MemoryRefusal {
    /// A part that cannot be.
    pub(crate) fn malformed(part: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Malformed { part: part.into(), expected: expected.into() }
    }
}
