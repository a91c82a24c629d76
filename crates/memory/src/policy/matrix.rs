//! The injection matrix: which kinds of memory each purpose receives.

use countersign_shipped_contracts::memory::meta::PacketPurpose;
use serde::{Deserialize, Serialize};

/// The injection strengths for each purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of the purposes")]
pub struct InjectionMatrix {
    pub planner: InjectionRow,
    pub tool: InjectionRow,
    pub responder: InjectionRow,
}

/// How strongly each part of the memory is injected for one purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectionRow {
    /// Strength of goal, slots, constraints, decisions and open loops.
    pub state: InjectionStrength,
    /// Strength of plan, risks, tool evidence and members of the working state that no schema
    /// names.
    pub plan: InjectionStrength,
    /// Strength of the rolling summary.
    pub summary: InjectionStrength,
    /// Strength of quoted events that match the cues.
    pub quotes: InjectionStrength,
    /// Strength of the latest messages.
    pub window: InjectionStrength,
    /// Strength of facts and preferences.
    pub facts: InjectionStrength,
    /// Strength of procedures for the task.
    pub procedures: InjectionStrength,
    /// Strength of episodes.
    pub episodes: InjectionStrength,
    /// Strength of insights. A responder receives validated insights only, and only if the policy
    /// allows it.
    pub insights: InjectionStrength,
}

/// How strongly a part of the memory is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum InjectionStrength {
    None,
    Weak,
    Medium,
    Strong,
}

/// The relative weights of the strengths in the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct StrengthWeights {
    pub strong: u32,
    pub medium: u32,
    pub weak: u32,
}

impl InjectionMatrix {
    /// Returns the strengths for a purpose.
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
    /// Returns the weight of a strength; 0 for `none`.
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
