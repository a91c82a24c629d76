//! Why a packet is not rendered.

use countersign_contracts::memory::insight::InsightValidationState;
use countersign_contracts::memory::long_term::FactStatus;
use countersign_contracts::memory::meta::PacketPurpose;

/// A packet that is not rendered. Nothing of its text is told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// It was composed for another prompt.
    #[error("a packet for a {} cannot be rendered for a {}", purpose_name(*.composed), purpose_name(*.requested))]
    Purpose {
        /// What it was composed for.
        composed: PacketPurpose,
        /// What it is wanted for.
        requested: PacketPurpose,
    },
    /// A guess that a responder or a tool must not see.
    #[error("insight `{id}` is {} and cannot go to a {}", validation_name(*.state), purpose_name(*.purpose))]
    Insight {
        /// Which one.
        id: String,
        /// How far it was tested.
        state: InsightValidationState,
        /// Whom the packet is for.
        purpose: PacketPurpose,
    },
    /// A fact that does not hold.
    #[error("fact `{id}` is {} and cannot go to a {}", fact_status_name(*.status), purpose_name(*.purpose))]
    Fact {
        /// Which one.
        id: String,
        /// Why it does not hold.
        status: FactStatus,
        /// Whom the packet is for.
        purpose: PacketPurpose,
    },
    /// It has not the shape of a packet.
    #[error("not a memory packet: {fault}")]
    Shape {
        /// What is wrong with it.
        fault: String,
    },
}

fn purpose_name(purpose: PacketPurpose) -> &'static str {
    match purpose {
        PacketPurpose::Planner => "planner",
        PacketPurpose::Tool => "tool",
        PacketPurpose::Responder => "responder",
    }
}

fn validation_name(state: InsightValidationState) -> &'static str {
    match state {
        InsightValidationState::Unvalidated => "unvalidated",
        InsightValidationState::Testing => "in testing",
        InsightValidationState::Validated => "validated",
        InsightValidationState::Rejected => "rejected",
    }
}

fn fact_status_name(status: FactStatus) -> &'static str {
    match status {
        FactStatus::Active => "active",
        FactStatus::Disputed => "disputed",
        FactStatus::Deprecated => "deprecated",
    }
}
