//! Loads the contracts of the trial at every repair level, and judges what was accepted.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};

use countersign_contract::contract::{Contract, ExtraFieldPolicy, load_contract};
use countersign_contract::json::RepairLevel;
use countersign_contract::reply::{IntakeMode, RuleContext};
use countersign_contract::source::SourceFile;
use countersign_shipped_contracts::shipped::SHIPPED_CONTRACTS;
use serde_json::Value;
use thiserror::Error;

use super::case::MutationCase;
use super::generate::CONTRACTS;

/// The outcome of one case for a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseOutcome {
    /// The truth was accepted.
    Right,
    /// The decoy was accepted.
    Decoy,
    /// Another value was accepted, or any value where none is correct.
    Wrong,
    /// Nothing was accepted.
    Refused,
}

/// Every contract of the trial, at every repair level, with tolerant intake.
#[derive(Debug)]
pub(crate) struct CaseJudge {
    contracts: BTreeMap<(&'static str, &'static str), Contract>,
}

/// A shipped contract that the trial needs is missing or does not load.
#[derive(Debug, Error)]
#[error("the shipped contract `{0}` is missing or does not load")]
pub(crate) struct MissingContract(&'static str);

/// Countersign panicked, which no text may cause.
#[derive(Debug)]
pub(crate) struct AdmissionPanic;

impl CaseJudge {
    /// Loads the contracts at every repair level, all of which refuse extra fields.
    ///
    /// Where extra fields are left out, a text that a bare quote cuts in two looks like a shorter
    /// text and an extra field. The guarantee is for contracts that refuse.
    pub(crate) fn load() -> Result<Self, MissingContract> {
        Self::load_with(|contract| contract.extra_fields = ExtraFieldPolicy::Refuse)
    }

    /// Loads the contracts at every repair level, each with this change.
    pub(crate) fn load_with(adjust: impl Fn(&mut Contract)) -> Result<Self, MissingContract> {
        let mut contracts = BTreeMap::new();
        for id in CONTRACTS {
            for level in RepairLevel::ALL {
                let shipped = SHIPPED_CONTRACTS
                    .iter()
                    .find(|shipped| shipped.id == id)
                    .ok_or(MissingContract(id))?;
                let source = SourceFile::new(id, shipped.contract);
                let read = |_: &str| Ok(shipped.schema.to_owned());
                let mut contract = load_contract(source, &read).map_err(|_| MissingContract(id))?;
                contract.intake = IntakeMode::Tolerant;
                contract.repairs = level;
                adjust(&mut contract);
                contracts.insert((id, level.as_str()), contract);
            }
        }
        Ok(Self { contracts })
    }

    fn contract(&self, case: &MutationCase, level: RepairLevel) -> &Contract {
        &self.contracts[&(case.contract, level.as_str())]
    }

    /// Returns what Countersign accepts of a case at a repair level, or an error if it panics.
    pub(crate) fn admit_case(
        &self,
        case: &MutationCase,
        level: RepairLevel,
    ) -> Result<Option<Value>, AdmissionPanic> {
        let contract = AssertUnwindSafe(self.contract(case, level));
        let admit = || contract.admit(&case.text, case.finish, &RuleContext::default());
        let verdict = panic::catch_unwind(admit).map_err(|_| AdmissionPanic)?;
        Ok(verdict.as_accepted().map(|accepted| accepted.value().clone()))
    }

    /// Returns what the contract alone accepts of a value that another tool has parsed.
    pub(crate) fn validate_value(&self, case: &MutationCase, value: &Value) -> Option<Value> {
        let contract = self.contract(case, RepairLevel::None);
        let verdict = contract.admit_value(value, &RuleContext::default());
        verdict.as_accepted().map(|accepted| accepted.value().clone())
    }

    /// Judges what was accepted. Defaults are filled in on both sides before the comparison.
    pub(crate) fn judge_outcome(
        &self,
        case: &MutationCase,
        accepted: Option<&Value>,
    ) -> CaseOutcome {
        let filled = |value: &Value| {
            let mut value = value.clone();
            self.contract(case, RepairLevel::None).schema.fill_defaults(&mut value);
            value
        };
        let Some(accepted) = accepted.map(filled) else { return CaseOutcome::Refused };
        if case.recoverable && accepted == filled(&case.truth) {
            return CaseOutcome::Right;
        }
        match &case.decoy {
            Some(decoy) if accepted == filled(decoy) => CaseOutcome::Decoy,
            _ => CaseOutcome::Wrong,
        }
    }
}
