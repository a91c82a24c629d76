//! Why a packet is not rendered.

use countersign_contracts::memory::insight::ValidationState;
use countersign_contracts::memory::long_term::FactStatus;
use countersign_contracts::memory::meta::Purpose;

/// A packet that is not rendered. Nothing of its text is told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// It was composed for another prompt.
    #[error("a packet for a {} cannot be rendered for a {}", told(*.composed), told(*.asked))]
    Purpose {
        /// What it was composed for.
        composed: Purpose,
        /// What it is wanted for.
        asked: Purpose,
    },
    /// A guess that a responder or a tool must not see.
    #[error("insight `{id}` is {} and cannot go to a {}", validation(*.state), told(*.purpose))]
    Insight {
        /// Which one.
        id: String,
        /// How far it was tested.
        state: ValidationState,
        /// Whom the packet is for.
        purpose: Purpose,
    },
    /// A fact that does not hold.
    #[error("fact `{id}` is {} and cannot go to a {}", held(*.status), told(*.purpose))]
    Fact {
        /// Which one.
        id: String,
        /// Why it does not hold.
        status: FactStatus,
        /// Whom the packet is for.
        purpose: Purpose,
    },
    /// It has not the shape of a packet.
    #[error("not a memory packet: {fault}")]
    Shape {
        /// What is wrong with it.
        fault: String,
    },
}

fn told(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Planner => "planner",
        Purpose::Tool => "tool",
        Purpose::Responder => "responder",
    }
}

fn validation(state: ValidationState) -> &'static str {
    match state {
        ValidationState::Unvalidated => "unvalidated",
        ValidationState::Testing => "in testing",
        ValidationState::Validated => "validated",
        ValidationState::Rejected => "rejected",
    }
}

fn held(status: FactStatus) -> &'static str {
    match status {
        FactStatus::Active => "active",
        FactStatus::Disputed => "disputed",
        FactStatus::Deprecated => "deprecated",
    }
}
