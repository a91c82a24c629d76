//! What an export is: a schema or a grammar, and what it could not say.

use std::fmt;

use serde_json::Value;

use super::nullable_fields::NullableFields;

/// A contract in another language.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedContract {
    /// The schema, or the text of the grammar as a string.
    pub output: Value,
    /// What it could not say.
    pub losses: Vec<ExportLoss>,
    /// Places in the values, `*` for every item, where null means that the field is absent; at most
    /// a thousand of them.
    pub nullable: Vec<String>,
    /// All of them.
    pub(super) nullable_fields: NullableFields,
}

/// One thing that an export could not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportLoss {
    /// The place in the contract's schema; for a rule the place it points at.
    pub pointer: String,
    /// The keyword, or `rule:` and its id, or `limit`.
    pub keyword: String,
    /// What is lost, in a sentence or a few words.
    pub reason: String,
    /// What that does to the export.
    pub effect: LossEffect,
    /// Who still enforces it.
    pub enforced_by: &'static str,
}

/// What a loss does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossEffect {
    /// The export takes more than the contract.
    Widened,
    /// The export cannot say something that the contract takes.
    Narrowed,
    /// The model is not told something that the runtime does.
    Untold,
    /// The provider may refuse the export for its size.
    OverLimit,
}

impl LossEffect {
    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Widened => "widened",
            Self::Narrowed => "narrowed",
            Self::Untold => "untold",
            Self::OverLimit => "over limit",
        }
    }
}

impl ExportLoss {
    /// A loss; everything but what a provider's language itself forbids is left to the runtime.
    pub(super) fn new(pointer: &str, keyword: &str, reason: &str, effect: LossEffect) -> Self {
        let enforced_by = match effect {
            LossEffect::Widened | LossEffect::Untold => "runtime",
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
        let place = if self.pointer.is_empty() { "the whole" } else { &self.pointer };
        let Self { keyword, reason, enforced_by, .. } = self;
        write!(
            f,
            "{place}: {keyword}: {reason} [{}, enforced by the {enforced_by}]",
            self.effect.as_str()
        )
    }
}

impl ExportedContract {
    /// The schema, unless this is a grammar.
    #[must_use]
    pub fn schema(&self) -> Option<&Value> {
        (!self.output.is_string()).then_some(&self.output)
    }

    /// The grammar, if this is one.
    #[must_use]
    pub fn grammar(&self) -> Option<&str> {
        self.output.as_str()
    }

    /// Whether the contract takes something that a model under this export cannot say.
    #[must_use]
    pub fn is_narrower(&self) -> bool {
        self.losses.iter().any(|loss| loss.effect == LossEffect::Narrowed)
    }

    /// Drops the nulls that mean absence; to be done before a reply is put to the contract.
    pub fn drop_nulls(&self, value: &mut Value) {
        self.nullable_fields.drop_nulls(value);
    }
}
