//! The contracts of the trial at every repair level, and the judgement over an acceptance.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};

use countersign_contracts::shipped::SHIPPED;
use countersign_core::contract::{Contract, load};
use countersign_core::json::RepairLevel;
use countersign_core::reply::{Context, Intake};
use countersign_core::spec::Source;
use serde_json::Value;
use thiserror::Error;

use super::case::Case;
use super::generate::CONTRACTS;

/// How a system fared in one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The truth was accepted.
    Right,
    /// The decoy was accepted.
    Decoy,
    /// Something else was accepted, or anything where nothing should have been.
    Wrong,
    /// Nothing was accepted.
    Refused,
}

/// Every contract of the trial, at every level, with tolerant intake.
#[derive(Debug)]
pub(crate) struct Court {
    contracts: BTreeMap<(&'static str, &'static str), Contract>,
}

/// A shipped contract that the trial needs and cannot have.
#[derive(Debug, Error)]
#[error("the shipped contract `{0}` is missing or does not load")]
pub(crate) struct NoContract(&'static str);

/// Countersign panicked, which no text may make it do.
#[derive(Debug)]
pub(crate) struct Panicked;

impl Court {
    /// Loads the contracts.
    pub(crate) fn open() -> Result<Self, NoContract> {
        let mut contracts = BTreeMap::new();
        for id in CONTRACTS {
            for level in RepairLevel::ALL {
                let shipped =
                    SHIPPED.iter().find(|shipped| shipped.id == id).ok_or(NoContract(id))?;
                let source = Source::new(id, shipped.contract);
                let read = |_: &str| Ok(shipped.schema.to_owned());
                let mut contract = load(source, &read).map_err(|_| NoContract(id))?;
                contract.intake = Intake::Tolerant;
                contract.repairs = level;
                contracts.insert((id, level.as_str()), contract);
            }
        }
        Ok(Self { contracts })
    }

    fn contract(&self, case: &Case, level: RepairLevel) -> &Contract {
        &self.contracts[&(case.contract, level.as_str())]
    }

    /// What Countersign accepts of a case at a level, unless it panics.
    pub(crate) fn admit(&self, case: &Case, level: RepairLevel) -> Result<Option<Value>, Panicked> {
        let contract = AssertUnwindSafe(self.contract(case, level));
        let admit = || contract.admit(&case.text, case.finish, &Context::default());
        let verdict = panic::catch_unwind(admit).map_err(|_| Panicked)?;
        Ok(verdict.accepted().map(|accepted| accepted.value().clone()))
    }

    /// What the contract alone lets through of a value somebody else has read.
    pub(crate) fn validated(&self, case: &Case, value: &Value) -> Option<Value> {
        let contract = self.contract(case, RepairLevel::None);
        let verdict = contract.admit_value(value, &Context::default());
        verdict.accepted().map(|accepted| accepted.value().clone())
    }

    /// Judges what was accepted. Defaults are filled in on both sides before the comparison.
    pub(crate) fn judge(&self, case: &Case, accepted: Option<&Value>) -> Outcome {
        let filled = |value: &Value| {
            let mut value = value.clone();
            self.contract(case, RepairLevel::None).schema.fill(&mut value);
            value
        };
        let Some(accepted) = accepted.map(filled) else { return Outcome::Refused };
        if case.tolerable && accepted == filled(&case.truth) {
            return Outcome::Right;
        }
        match &case.decoy {
            Some(decoy) if accepted == filled(decoy) => Outcome::Decoy,
            _ => Outcome::Wrong,
        }
    }
}
