//! How the runs of a protocol use memory. What is stored and how packets are composed is decided
//! elsewhere.

use std::collections::BTreeMap;

use countersign_contract::expr::Expr;

/// The `memory` section of the index.
#[derive(Debug, Default)]
pub struct ProtocolMemoryConfig {
    /// Whether memory is off: runs are not recorded in memory and get no memory in prompts. The
    /// default is `false`.
    pub off: bool,
    /// Packet policy: the id of a shipped policy, or a file of the folder; `default` if absent.
    pub policy: Option<String>,
    /// Maximum size of a packet in tokens; the policy's own limit if absent.
    pub tokens: Option<u64>,
    /// The number of messages that prompts get from the runs before this one in the same
    /// conversation, newest last; none if absent, unless the policy gives a window.
    pub window: Option<usize>,
    /// Expressions over `state` and `run` that give the parts of a run's working state.
    pub working: BTreeMap<WorkingStatePart, Expr>,
}

/// A part of the working state that a protocol can fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkingStatePart {
    /// The goal of the run: a text.
    Goal,
    /// Constraints that the run must respect: an object.
    Constraints,
    /// Named values: an object.
    Slots,
    /// Steps: a list of texts, or of objects with `step` and `status`.
    Plan,
    /// Decisions made: a list of texts, or of objects with a `statement`.
    Decisions,
    /// Risks: a list of texts, or of objects with a `risk`.
    Risks,
}

impl WorkingStatePart {
    /// Every part, in the order of declaration.
    pub const ALL: [Self; 6] =
        [Self::Goal, Self::Constraints, Self::Slots, Self::Plan, Self::Decisions, Self::Risks];

    /// The key in the index.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Constraints => "constraints",
            Self::Slots => "slots",
            Self::Plan => "plan",
            Self::Decisions => "decisions",
            Self::Risks => "risks",
        }
    }
}
