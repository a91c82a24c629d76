//! The result of an export: a schema or a grammar, and what it cannot express.

use std::fmt;

use serde_json::Value;

use super::nullable_fields::NullableFields;

/// A contract in the form that a provider accepts.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedContract {
    /// The schema, or the text of the grammar as a JSON string.
    pub output: Value,
    /// What the export cannot express, in the order in which it was found; rules come last.
    pub losses: Vec<ExportLoss>,
    /// The pointers in the values, with `*` for every item, at which null means that the field is
    /// absent; at most 1000 of them.
    pub nullable: Vec<String>,
    /// All these fields, without a limit.
    pub(super) nullable_fields: NullableFields,
}

/// One thing that an export cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportLoss {
    /// The pointer in the contract's schema; for a rule, the pointer that its violations report.
    pub pointer: String,
    /// The keyword; or `rule:` and the id of the rule; or `limit`.
    pub keyword: String,
    /// What is lost, in a few words.
    pub reason: String,
    /// How the loss changes the export.
    pub effect: LossEffect,
    /// Who still enforces the requirement: `runtime` or `provider`.
    pub enforced_by: &'static str,
}

/// How a loss changes an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossEffect {
    /// The export accepts more than the contract.
    Widened,
    /// The export cannot express something that the contract accepts.
    Narrowed,
    /// The export does not tell the model something that the runtime does.
    Unstated,
    /// The provider may refuse the export because of its size.
    OverLimit,
}

impl LossEffect {
    /// Returns the name that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Widened => "widened",
            Self::Narrowed => "narrowed",
            Self::Unstated => "unstated",
            Self::OverLimit => "over limit",
        }
    }
}

impl ExportLoss {
    /// Creates a loss. The runtime enforces what the export does not express; the provider enforces
    /// what its language makes narrower or limits.
    pub(super) fn new(pointer: &str, keyword: &str, reason: &str, effect: LossEffect) -> Self {
        let enforced_by = match effect {
            LossEffect::Widened | LossEffect::Unstated => "runtime",
            LossEffect::Narrowed | LossEffect::OverLimit => "provider",
        };
        Self {
            pointer: pointer.to_owned(),
            keyword: keyword.to_owned(),
            reason: reason.to_owned(),
            effect,
            enforced_by,
        }
    }
}

impl fmt::Display for ExportLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = if self.pointer.is_empty() { "the whole" } else { &self.pointer };
        let Self { keyword, reason, enforced_by, .. } = self;
        write!(
            f,
            "{location}: {keyword}: {reason} [{}, enforced by the {enforced_by}]",
            self.effect.as_str()
        )
    }
}

impl ExportedContract {
    /// Returns the schema, or `None` if this is a grammar.
    #[must_use]
    pub fn schema(&self) -> Option<&Value> {
        (!self.output.is_string()).then_some(&self.output)
    }

    /// Returns the grammar, or `None` if this is a schema.
    #[must_use]
    pub fn grammar(&self) -> Option<&str> {
        self.output.as_str()
    }

    /// Returns whether the contract accepts something that a model cannot send under this export.
    #[must_use]
    pub fn is_narrower(&self) -> bool {
        self.losses.iter().any(|loss| loss.effect == LossEffect::Narrowed)
    }

    /// Removes the nulls that mean absence. Call this before admitting a reply.
    pub fn drop_nulls(&self, value: &mut Value) {
        self.nullable_fields.drop_nulls(value);
    }
}
