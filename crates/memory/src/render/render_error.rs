//! Errors of rendering a packet.

use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::long_term::FactStatus;
use countersign_shipped_contracts::memory::meta::PacketPurpose;

/// The reason why a packet is not rendered. Messages contain nothing of its text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The packet was composed for another purpose.
    #[error("a packet for a {} cannot be rendered for a {}", purpose_name(*.composed), purpose_name(*.requested))]
    Purpose {
        /// The purpose that the packet was composed for.
        composed: PacketPurpose,
        /// The purpose that it should be rendered for.
        requested: PacketPurpose,
    },
    /// The packet contains an insight that a responder or a tool must not see.
    #[error("insight `{id}` is {} and cannot go to a {}", validation_name(*.state), purpose_name(*.purpose))]
    Insight {
        /// The id of the insight.
        id: String,
        /// The validation state of the insight.
        state: InsightValidationState,
        /// The purpose of the packet.
        purpose: PacketPurpose,
    },
    /// The packet contains a fact that is not valid for its purpose.
    #[error("fact `{id}` is {} and cannot go to a {}", fact_status_name(*.status), purpose_name(*.purpose))]
    Fact {
        /// The id of the fact.
        id: String,
        /// The status of the fact.
        status: FactStatus,
        /// The purpose of the packet.
        purpose: PacketPurpose,
    },
    /// The value does not have the shape of a packet.
    #[error("not a memory packet: {fault}")]
    Shape {
        /// A description of the problem.
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
