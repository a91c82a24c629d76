//! Who is given what: the injection matrix.

use countersign_contracts::memory::meta::Purpose;
use serde::{Deserialize, Serialize};

/// What each purpose is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of the purposes")]
pub struct Matrix {
    pub planner: MatrixRow,
    pub tool: MatrixRow,
    pub responder: MatrixRow,
}

/// How strongly each part of the memory is given to one purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixRow {
    /// Goal, slots, constraints, decisions, open loops.
    pub state: Strength,
    /// Plan, risks, tool evidence, and what of the working state no schema names.
    pub plan: Strength,
    /// The rolling summary.
    pub summary: Strength,
    /// Events that the cues activate.
    pub quotes: Strength,
    /// The latest messages.
    pub window: Strength,
    /// Facts and preferences.
    pub facts: Strength,
    /// Ways of doing the task.
    pub procedures: Strength,
    /// What happened before.
    pub episodes: Strength,
    /// Guesses. To a responder only validated ones, and only with leave.
    pub insights: Strength,
}

/// How strongly something is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Strength {
    None,
    Weak,
    Medium,
    Strong,
}

/// What the words of the matrix weigh against one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Strengths {
    pub strong: u32,
    pub medium: u32,
    pub weak: u32,
}

impl Matrix {
    /// What a purpose is given.
    #[must_use]
    pub fn row(&self, purpose: Purpose) -> &MatrixRow {
        match purpose {
            Purpose::Planner => &self.planner,
            Purpose::Tool => &self.tool,
            Purpose::Responder => &self.responder,
        }
    }
}

impl Strengths {
    /// What a word weighs; nothing for `none`.
    #[must_use]
    pub fn weight(&self, strength: Strength) -> u64 {
        u64::from(match strength {
            Strength::None => 0,
            Strength::Weak => self.weak,
            Strength::Medium => self.medium,
            Strength::Strong => self.strong,
        })
    }
}
