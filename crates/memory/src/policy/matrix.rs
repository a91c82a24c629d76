//! Who is given what: the injection matrix.

use countersign_contracts::memory::meta::PacketPurpose;
use serde::{Deserialize, Serialize};

/// What each purpose is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of the purposes")]
pub struct InjectionMatrix {
    pub planner: InjectionRow,
    pub tool: InjectionRow,
    pub responder: InjectionRow,
}

/// How strongly each part of the memory is given to one purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectionRow {
    /// Goal, slots, constraints, decisions, open loops.
    pub state: InjectionStrength,
    /// Plan, risks, tool evidence, and what of the working state no schema names.
    pub plan: InjectionStrength,
    /// The rolling summary.
    pub summary: InjectionStrength,
    /// Events that the cues activate.
    pub quotes: InjectionStrength,
    /// The latest messages.
    pub window: InjectionStrength,
    /// Facts and preferences.
    pub facts: InjectionStrength,
    /// Ways of doing the task.
    pub procedures: InjectionStrength,
    /// What happened before.
    pub episodes: InjectionStrength,
    /// Guesses. To a responder only validated ones, and only with leave.
    pub insights: InjectionStrength,
}

/// How strongly something is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum InjectionStrength {
    None,
    Weak,
    Medium,
    Strong,
}

/// What the words of the matrix weigh against one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct StrengthWeights {
    pub strong: u32,
    pub medium: u32,
    pub weak: u32,
}

impl InjectionMatrix {
    /// What a purpose is given.
    #[must_use]
    pub fn row(&self, purpose: PacketPurpose) -> &InjectionRow {
        match purpose {
            PacketPurpose::Planner => &self.planner,
            PacketPurpose::Tool => &self.tool,
            PacketPurpose::Responder => &self.responder,
        }
    }
}

impl StrengthWeights {
    /// What a word weighs; nothing for `none`.
    #[must_use]
    pub fn weight(&self, strength: InjectionStrength) -> u64 {
        u64::from(match strength {
            InjectionStrength::None => 0,
            InjectionStrength::Weak => self.weak,
            InjectionStrength::Medium => self.medium,
            InjectionStrength::Strong => self.strong,
        })
    }
}
