//! The [`Contract`] type: schema, intake and rules under an id and a version.

use std::sync::Arc;

use serde_json::Value;

use super::contract_rule::ContractRule;
use super::lenient_fields::{EmptyFieldPolicy, ExtraFieldPolicy};
use super::schema::Schema;
use crate::json::RepairLevel;
use crate::reply::{
    AcceptedValue, AdmissionOptions, AdmissionVerdict, FinishReason, IntakeMode, ParsedReply,
    RuleContext, ValidatedReply, Violation,
};

/// A compiled contract.
#[derive(Debug)]
pub struct Contract {
    /// The name that users and protocol files refer to.
    pub id: String,
    /// The version as `major.minor.patch`.
    pub version: String,
    /// A few words for lists; empty if the file has no `title`.
    pub title: String,
    /// The purpose of the contract; empty if the file has no `description`.
    pub description: String,
    /// The text that may surround the object in a reply. The default is that of the base, or
    /// strict.
    pub intake: IntakeMode,
    /// The repairs that may be made to a reply. The default is that of the base, or
    /// [`IntakeMode::default_repairs`].
    pub repairs: RepairLevel,
    /// What happens to fields that the schema does not know. The default is that of the base, or
    /// [`ExtraFieldPolicy::Refuse`].
    pub extra_fields: ExtraFieldPolicy,
    /// What happens to optional fields that hold nothing. The default is that of the base, or
    /// [`EmptyFieldPolicy::Keep`].
    pub empty_fields: EmptyFieldPolicy,
    /// The field that a reply of plain text, without an object, is the value of. The default is
    /// that of the base; if absent, plain text is refused.
    pub text_field: Option<String>,
    /// The JSON Schema that the object must satisfy.
    pub schema: Schema,
    /// The conditions beyond the schema; the contract's own rules come before those of its base.
    pub rules: Vec<Arc<ContractRule>>,
    /// What happens after a refused reply. The default is that of the base, or
    /// [`OnViolation::default`].
    pub on_violation: OnViolation,
    /// How this version relates to the previous one; [`CompatibilityLevel::Initial`] by default.
    pub compatibility: CompatibilityLevel,
    /// What users of older values must do to migrate; empty if there is nothing to do.
    pub migration_notes: String,
    /// The SHA-256 digest of everything that affects decisions: schema, intake, repairs, what is left
    /// out or taken as text, rules, `on_violation` and the digest of the base. The contract's own title and description are not
    /// part of it.
    pub digest: String,
}

/// What happens after a refused reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnViolation {
    /// The number of retries; 2 by default.
    pub reask: u32,
    /// What happens when the retries are used up; [`OnExhausted::Fail`] by default.
    pub then: OnExhausted,
}

impl Default for OnViolation {
    fn default() -> Self {
        Self { reask: 2, then: OnExhausted::Fail }
    }
}

/// What happens when the retries are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExhausted {
    /// The step fails.
    Fail,
    /// The run waits for a person.
    Wait,
}

impl OnExhausted {
    /// Returns the name that contract files use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Wait => "wait",
        }
    }
}

/// How a version of a contract relates to the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompatibilityLevel {
    /// There is no previous version.
    Initial,
    /// The new version accepts everything that the old one accepts.
    Backward,
    /// The old version accepts everything that the new one accepts.
    Forward,
    /// Both versions accept the same values.
    Full,
    /// Neither version accepts everything that the other one accepts.
    Breaking,
}

impl CompatibilityLevel {
    /// Every level, in the order of the declaration.
    pub const ALL: [Self; 5] =
        [Self::Initial, Self::Backward, Self::Forward, Self::Full, Self::Breaking];

    /// Parses the name that contract files use, or returns `None` for another name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|relation| relation.as_str() == name)
    }

    /// Returns the name that contract files use.
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
    /// Returns the admission settings of this contract for a reply with this finish reason.
    #[must_use]
    pub fn admission_options(&self, finish: FinishReason) -> AdmissionOptions {
        AdmissionOptions { intake: self.intake, repairs: self.repairs, finish }
    }

    /// Accepts a reply, or returns everything that is wrong with it.
    #[must_use]
    pub fn admit(
        &self,
        text: &str,
        finish: FinishReason,
        context: &RuleContext<'_>,
    ) -> AdmissionVerdict {
        self.admit_text(text, self.admission_options(finish), context)
    }

    /// Like [`Contract::admit`], for bytes that may not be UTF-8 and with settings that the caller
    /// chooses.
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
            .and_then(|valid| valid.accept(self, context))
            .or_else(|violations| {
                AcceptedValue::from_plain_text(text, terms.finish, self, context)
                    .unwrap_or(Err(violations))
            });
        AdmissionVerdict::from(accepted)
    }

    /// Like [`Contract::admit`], for a value that was never text, such as a document or a record.
    #[must_use]
    pub fn admit_value(&self, value: &Value, context: &RuleContext<'_>) -> AdmissionVerdict {
        let accepted: Result<AcceptedValue, Vec<Violation>> =
            ValidatedReply::from_value(value.clone(), self)
                .and_then(|valid| valid.accept(self, context));
        AdmissionVerdict::from(accepted)
    }

    /// Returns the ids of the rules that are skipped because this context lacks a value they read.
    #[must_use]
    pub fn list_unchecked_rules(&self, context: &RuleContext<'_>) -> Vec<&str> {
        let lacking = self.rules.iter().filter(|rule| rule.lacks_context(context));
        lacking.map(|rule| rule.id.as_str()).collect()
    }
}
