//! A contract: schema, intake and rules under an id and a version.

use std::sync::Arc;

use serde_json::Value;

use super::contract_rule::ContractRule;
use super::schema::Schema;
use crate::json::RepairLevel;
use crate::reply::{
    AcceptedValue, AdmissionOptions, AdmissionVerdict, FinishReason, IntakeMode, ParsedReply,
    RuleContext, ValidatedReply, Violation,
};

/// A compiled contract.
#[derive(Debug)]
pub struct Contract {
    /// The name a user types.
    pub id: String,
    /// `major.minor.patch`.
    pub version: String,
    /// A few words.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// How the text may carry the object.
    pub intake: IntakeMode,
    /// Which repairs may be made.
    pub repairs: RepairLevel,
    /// What the object must look like.
    pub schema: Schema,
    /// What must hold beyond the schema; its own come before those of its base.
    pub rules: Vec<Arc<ContractRule>>,
    /// What happens to a refused reply.
    pub on_violation: OnViolation,
    /// How this version relates to the one before it.
    pub compatibility: CompatibilityLevel,
    /// What whoever holds older values must do.
    pub migration_notes: String,
    /// Of everything that decides: schema, intake, repairs, rules. Not of the words around it.
    pub digest: String,
}

/// What happens to a refused reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnViolation {
    /// How often the model is asked again.
    pub reask: u32,
    /// What follows when that is spent.
    pub then: OnExhausted,
}

impl Default for OnViolation {
    fn default() -> Self {
        Self { reask: 2, then: OnExhausted::Fail }
    }
}

/// The end of re-asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExhausted {
    /// The step fails.
    Fail,
    /// A person is asked.
    Wait,
}

impl OnExhausted {
    /// The name in contract files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Wait => "wait",
        }
    }
}

/// How a version of a contract relates to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompatibilityLevel {
    /// There is none before it.
    Initial,
    /// It takes all that the old one took.
    Backward,
    /// The old one takes all that it takes.
    Forward,
    /// Both take the same.
    Full,
    /// Neither.
    Breaking,
}

impl CompatibilityLevel {
    /// Every relation.
    pub const ALL: [Self; 5] =
        [Self::Initial, Self::Backward, Self::Forward, Self::Full, Self::Breaking];

    /// Reads a relation by its name in contract files.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|relation| relation.as_str() == name)
    }

    /// The name in contract files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Backward => "backward",
            Self::Forward => "forward",
            Self::Full => "full",
            Self::Breaking => "breaking",
        }
    }
}

impl Contract {
    /// The terms this contract takes a text on.
    #[must_use]
    pub fn admission_options(&self, finish: FinishReason) -> AdmissionOptions {
        AdmissionOptions { intake: self.intake, repairs: self.repairs, finish }
    }

    /// Lets a reply in, or tells everything wrong with it.
    #[must_use]
    pub fn admit(
        &self,
        text: &str,
        finish: FinishReason,
        context: &RuleContext<'_>,
    ) -> AdmissionVerdict {
        self.admit_text(text, self.admission_options(finish), context)
    }

    /// The same for bytes that may be no text, on terms of the caller's.
    #[must_use]
    pub fn admit_bytes(
        &self,
        bytes: &[u8],
        terms: AdmissionOptions,
        context: &RuleContext<'_>,
    ) -> AdmissionVerdict {
        match ParsedReply::decode_utf8(bytes) {
            Ok(text) => self.admit_text(text, terms, context),
            Err(violations) => AdmissionVerdict::Refused(violations),
        }
    }

    fn admit_text(
        &self,
        text: &str,
        terms: AdmissionOptions,
        context: &RuleContext<'_>,
    ) -> AdmissionVerdict {
        let accepted = ParsedReply::from_text(text, terms)
            .and_then(|parsed| parsed.validate(self))
            .and_then(|valid| valid.accept(self, context));
        AdmissionVerdict::from(accepted)
    }

    /// The same for a value that never was text: a document, a record.
    #[must_use]
    pub fn admit_value(&self, value: &Value, context: &RuleContext<'_>) -> AdmissionVerdict {
        let accepted: Result<AcceptedValue, Vec<Violation>> =
            ValidatedReply::from_value(value.clone(), self)
                .and_then(|valid| valid.accept(self, context));
        AdmissionVerdict::from(accepted)
    }

    /// The rules that this context cannot decide.
    #[must_use]
    pub fn list_unchecked_rules(&self, context: &RuleContext<'_>) -> Vec<&str> {
        let lacking = self.rules.iter().filter(|rule| rule.lacks_context(context));
        lacking.map(|rule| rule.id.as_str()).collect()
    }
}
