//! How the runs of a protocol use memory. What is remembered and composed is not decided here.

use std::collections::BTreeMap;

use crate::expr::Expr;

/// What an index says under `memory`.
#[derive(Debug, Default)]
pub struct ProtocolMemoryConfig {
    /// Whether its runs neither remember nor are reminded.
    pub off: bool,
    /// The policy of packets: one that ships, by its id, or a file of the folder; `default` where absent.
    pub policy: Option<String>,
    /// How many tokens a packet may have, where that is not for the policy to say.
    pub tokens: Option<u64>,
    /// What the working state of a run is made of, over `state` and `run`.
    pub working: BTreeMap<WorkingStatePart, Expr>,
}

/// A part of the working state that a protocol may fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkingStatePart {
    /// What the run is after: a text.
    Goal,
    /// What must be kept to: a table.
    Constraints,
    /// Named values: a table.
    Slots,
    /// Steps: a list of texts, or of tables with `step` and `status`.
    Plan,
    /// What was decided: a list of texts, or of tables with a `statement`.
    Decisions,
    /// What may go wrong: a list of texts, or of tables with a `risk`.
    Risks,
}

impl WorkingStatePart {
    /// Every part.
    pub const ALL: [Self; 6] =
        [Self::Goal, Self::Constraints, Self::Slots, Self::Plan, Self::Decisions, Self::Risks];

    /// Its key in the index.
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
