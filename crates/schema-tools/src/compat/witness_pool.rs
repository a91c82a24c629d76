//! Searches for a value that one contract accepts and another refuses.
//!
//! The search is bounded by counts, not by time. A witness is reduced until every part of it
//! matters.

use countersign_contract::contract::Contract;
use countersign_contract::json;
use countersign_contract::reply::RuleContext;
use serde_json::{Value, json};

use super::contract_change::ContractChange;
use crate::work_budget::count_values;
use crate::{SchemaSampler, WorkBudget};

/// The number of seeds that are tried for each schema.
const SAMPLES_PER_SCHEMA: u64 = 96;
/// The maximum number of values that are probed, and of changed pointers in each.
const PROBE_LIMITS: (usize, usize) = (12, 24);
/// The number of values that are tried against a proof.
const MAX_REFUTATION_VALUES: usize = 64;
/// The maximum number of attempts to reduce a witness.
const MAX_MINIMIZE_STEPS: usize = 400;

/// The maximum number of steps for checking one value. A value that needs more is skipped.
const MAX_CHECK_STEPS: u64 = 2_000_000;

/// Values that either version may accept: examples, boundary values and samples.
#[derive(Debug)]
pub(super) struct WitnessPool<'b> {
    values: Vec<Value>,
    /// The pointers that changed, with `*` for every item.
    changed_pointers: Vec<String>,
    budget: &'b WorkBudget<'b>,
}

impl<'b> WitnessPool<'b> {
    /// Collects the values for a comparison.
    pub(super) fn from_contracts(
        old: &Contract,
        new: &Contract,
        examples: &[Value],
        changes: &[ContractChange],
        budget: &'b WorkBudget<'b>,
    ) -> Self {
        let mut values = examples.to_vec();
        for contract in [old, new] {
            let sampler = SchemaSampler::new(contract.schema.source());
            let bounded = sampler.with_budget(budget);
            values.extend(bounded.generate_boundary_values());
            values.extend((0..SAMPLES_PER_SCHEMA).filter_map(|seed| bounded.generate_sample(seed)));
        }
        let pointers = changes
            .iter()
            .map(|change| change.pointer.clone())
            .filter(|pointer| !pointer.is_empty());
        Self { values, changed_pointers: pointers.take(PROBE_LIMITS.1).collect(), budget }
    }

    /// Returns a value that `from` accepts and `to` refuses; tries the difference of the schemas
    /// first.
    pub(super) fn find_witness(
        &self,
        from: &Contract,
        to: &Contract,
        difference: Option<&Value>,
    ) -> Option<Value> {
        let proves = |value: &Value| self.is_witness(from, to, value);
        let different = difference.map(SchemaSampler::new).and_then(|sampler| {
            let samples = sampler.with_budget(self.budget);
            let edges = samples.generate_boundary_values().into_iter();
            edges
                .chain((0..SAMPLES_PER_SCHEMA).filter_map(|seed| samples.generate_sample(seed)))
                .find(proves)
        });
        let found = different
            .or_else(|| self.values.iter().find(|value| proves(value)).cloned())
            .or_else(|| self.probe_changed_pointers(from, &proves))?;
        Some(minimize_witness(found, &proves))
    }

    /// Tries a few values although containment is proven, in case the proof is wrong.
    pub(super) fn find_refutation(&self, from: &Contract, to: &Contract) -> Option<Value> {
        let step = (self.values.len() / MAX_REFUTATION_VALUES).max(1);
        let mut spots = self.values.iter().step_by(step);
        spots.find(|value| self.is_witness(from, to, value)).cloned()
    }

    fn is_witness(&self, from: &Contract, to: &Contract, value: &Value) -> bool {
        accepts_value(from, value, self.budget) == Some(true)
            && accepts_value(to, value, self.budget) == Some(false)
    }

    /// Tries simple values at the changed pointers. For example, an undeclared field of an open
    /// object may hold a value that its declaration now forbids, and no sample would contain it.
    fn probe_changed_pointers(
        &self,
        from: &Contract,
        proves: &dyn Fn(&Value) -> bool,
    ) -> Option<Value> {
        let simple =
            [json!(null), json!(0), json!(""), json!("x"), json!(false), json!([]), json!({})];
        let fits = |value: &&Value| accepts_value(from, value, self.budget) == Some(true);
        let bases = self.values.iter().filter(fits).take(PROBE_LIMITS.0);
        for base in bases {
            let size = count_values(base) as u64;
            for pointer in &self.changed_pointers {
                let pointer = pointer.replace("/*", "/0");
                for probe in &simple {
                    if !self.budget.spend(size) {
                        return None;
                    }
                    let mut changed = base.clone();
                    if set_at_pointer(&mut changed, &pointer, probe) && proves(&changed) {
                        return Some(changed);
                    }
                }
            }
        }
        None
    }
}

/// Returns whether a contract, including its rules, accepts a value; `None` if the check would cost
/// too much.
pub(super) fn accepts_value(
    contract: &Contract,
    value: &Value,
    budget: &WorkBudget<'_>,
) -> Option<bool> {
    let size = (count_values(value) * (1 + contract.rules.len())) as u64;
    if !budget.spend(size) {
        return None;
    }
    let mut filled = value.clone();
    contract.schema.fill_defaults(&mut filled);
    let limit = budget.remaining_steps().min(MAX_CHECK_STEPS);
    let steps = contract.schema.estimate_validation_steps(&filled, limit);
    // A refused value is validated again to find the reasons.
    if !budget.spend(steps.unwrap_or(limit).saturating_mul(3)) {
        return None;
    }
    steps.map(|_| contract.admit_value(value, &RuleContext::default()).as_accepted().is_some())
}

fn set_at_pointer(value: &mut Value, pointer: &str, probe: &Value) -> bool {
    let Some(container) =
        json::parent_pointer(pointer).and_then(|parent| value.pointer_mut(parent))
    else {
        return false;
    };
    let name = json::split_pointer(pointer).last().unwrap_or_default();
    match container {
        Value::Object(members) => {
            members.insert(name.into_owned(), probe.clone());
            true
        }
        Value::Array(items) if !items.is_empty() => {
            items[0] = probe.clone();
            true
        }
        _ => false,
    }
}

/// Removes, one by one, the members and items that the witness does not need.
fn minimize_witness(mut value: Value, proves: &dyn Fn(&Value) -> bool) -> Value {
    let mut budget = MAX_MINIMIZE_STEPS;
    let mut parts = Vec::new();
    list_parts("", &value, &mut parts);
    // Start with the outer parts, because they remove the most.
    for pointer in parts {
        if budget == 0 {
            break;
        }
        budget -= 1;
        let mut smaller = value.clone();
        if remove_at_pointer(&mut smaller, &pointer) && proves(&smaller) {
            value = smaller;
            continue;
        }
        // A string that must stay may still become shorter.
        while budget > 0 && halve_string(&mut smaller, &value, &pointer) && proves(&smaller) {
            budget -= 1;
            value = smaller.clone();
        }
    }
    value
}

/// Halves the string at a pointer; returns false if there is no string or it is empty.
fn halve_string(smaller: &mut Value, value: &Value, pointer: &str) -> bool {
    smaller.clone_from(value);
    match smaller.pointer_mut(pointer) {
        Some(Value::String(text)) if !text.is_empty() => {
            *text = text.chars().take(text.chars().count() / 2).collect();
            true
        }
        _ => false,
    }
}

/// Lists the pointers of all parts, outer ones first and later items before earlier ones.
fn list_parts(at: &str, value: &Value, parts: &mut Vec<String>) {
    if parts.len() >= MAX_MINIMIZE_STEPS {
        return;
    }
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            let members = members.iter().take(MAX_MINIMIZE_STEPS);
            members.map(|(name, member)| (json::child_pointer(at, name), member)).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .rev()
            .take(MAX_MINIMIZE_STEPS)
            .map(|(index, item)| (format!("{at}/{index}"), item))
            .collect(),
        _ => return,
    };
    parts.extend(inside.iter().map(|(pointer, _)| pointer.clone()));
    for (pointer, member) in inside {
        list_parts(&pointer, member, parts);
    }
}

fn remove_at_pointer(value: &mut Value, pointer: &str) -> bool {
    let Some(container) =
        json::parent_pointer(pointer).and_then(|parent| value.pointer_mut(parent))
    else {
        return false;
    };
    let name = json::split_pointer(pointer).last().unwrap_or_default();
    match container {
        Value::Object(members) => members.shift_remove(name.as_ref()).is_some(),
        Value::Array(items) => match name.parse::<usize>() {
            Ok(index) if index < items.len() => {
                items.remove(index);
                true
            }
            _ => false,
        },
        _ => false,
    }
}
