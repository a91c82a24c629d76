//! The search for a value that one contract takes and another refuses.
//!
//! Bounded by counts, not by time. The value that is found is cut down until every part of it matters.

use serde_json::{Value, json};

use super::change::Change;
use crate::contract::budget::count_values;
use crate::contract::{Contract, Sampler, WorkBudget};
use crate::json;
use crate::reply::Context;

/// So many samples of each schema are tried.
const SAMPLES: u64 = 96;
/// So many values, and so many changed places in each, are probed.
const PROBED: (usize, usize) = (12, 24);
/// So many values are tried against a proof.
const SPOTS: usize = 64;
/// So many parts of a witness are tried to be left out.
const CUTS: usize = 400;

/// Steps that one check of one value may take. A value that needs more is passed over.
const MAX_CHECK_STEPS: u64 = 2_000_000;

/// Values that either version may take: given ones, edges and samples.
#[derive(Debug)]
pub(super) struct Pool<'b> {
    values: Vec<Value>,
    /// Places that changed, `*` for every item.
    places: Vec<String>,
    budget: &'b WorkBudget<'b>,
}

impl<'b> Pool<'b> {
    /// Gathers the values for a comparison.
    pub(super) fn gather(
        old: &Contract,
        new: &Contract,
        examples: &[Value],
        changes: &[Change],
        budget: &'b WorkBudget<'b>,
    ) -> Self {
        let mut values = examples.to_vec();
        for contract in [old, new] {
            let sampler = Sampler::new(contract.schema.source());
            let bounded = sampler.within(budget);
            values.extend(bounded.boundary());
            values.extend((0..SAMPLES).filter_map(|seed| bounded.sample(seed)));
        }
        let places =
            changes.iter().map(|change| change.pointer.clone()).filter(|place| !place.is_empty());
        Self { values, places: places.take(PROBED.1).collect(), budget }
    }

    /// A value that `from` takes and `to` refuses; the difference of the schemas is asked first.
    pub(super) fn find(
        &self,
        from: &Contract,
        to: &Contract,
        difference: Option<&Value>,
    ) -> Option<Value> {
        let proves = |value: &Value| self.proves(from, to, value);
        let different = difference.map(Sampler::new).and_then(|sampler| {
            let samples = sampler.within(self.budget);
            let edges = samples.boundary().into_iter();
            edges.chain((0..SAMPLES).filter_map(|seed| samples.sample(seed))).find(proves)
        });
        let found = different
            .or_else(|| self.values.iter().find(|value| proves(value)).cloned())
            .or_else(|| self.probe(from, &proves))?;
        Some(cut_down(found, &proves))
    }

    /// The same where containment is proven: a few values, in case the proof is wrong.
    pub(super) fn refute(&self, from: &Contract, to: &Contract) -> Option<Value> {
        let step = (self.values.len() / SPOTS).max(1);
        let mut spots = self.values.iter().step_by(step);
        spots.find(|value| self.proves(from, to, value)).cloned()
    }

    fn proves(&self, from: &Contract, to: &Contract, value: &Value) -> bool {
        takes(from, value, self.budget) == Some(true)
            && takes(to, value, self.budget) == Some(false)
    }

    /// Tries simple values at the places that changed. An undeclared field of an open object, for
    /// one, may hold what its declaration now forbids, and no sample would put it there.
    fn probe(&self, from: &Contract, proves: &dyn Fn(&Value) -> bool) -> Option<Value> {
        let simple =
            [json!(null), json!(0), json!(""), json!("x"), json!(false), json!([]), json!({})];
        let fits = |value: &&Value| takes(from, value, self.budget) == Some(true);
        let bases = self.values.iter().filter(fits).take(PROBED.0);
        for base in bases {
            let size = count_values(base) as u64;
            for place in &self.places {
                let place = place.replace("/*", "/0");
                for probe in &simple {
                    if !self.budget.spend(size) {
                        return None;
                    }
                    let mut changed = base.clone();
                    if put(&mut changed, &place, probe) && proves(&changed) {
                        return Some(changed);
                    }
                }
            }
        }
        None
    }
}

/// Whether a contract takes a value, its rules included; `None` where that would cost too much.
pub(super) fn takes(contract: &Contract, value: &Value, budget: &WorkBudget<'_>) -> Option<bool> {
    let size = (count_values(value) * (1 + contract.rules.len())) as u64;
    if !budget.spend(size) {
        return None;
    }
    let mut filled = value.clone();
    contract.schema.fill(&mut filled);
    let limit = budget.left().min(MAX_CHECK_STEPS);
    let steps = contract.schema.validation_steps(&filled, limit);
    // What is refused is looked at again, for the reasons.
    if !budget.spend(steps.unwrap_or(limit).saturating_mul(3)) {
        return None;
    }
    steps.map(|_| contract.admit_value(value, &Context::default()).accepted().is_some())
}

fn put(value: &mut Value, place: &str, probe: &Value) -> bool {
    let Some(holder) = json::parent(place).and_then(|parent| value.pointer_mut(parent)) else {
        return false;
    };
    let name = json::split(place).last().unwrap_or_default();
    match holder {
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

/// Leaves out, one by one, the members and items that the proof does not need.
fn cut_down(mut value: Value, proves: &dyn Fn(&Value) -> bool) -> Value {
    let mut budget = CUTS;
    let mut parts = Vec::new();
    list("", &value, &mut parts);
    // From the outside in: what goes early takes much with it.
    for pointer in parts {
        if budget == 0 {
            break;
        }
        budget -= 1;
        let mut smaller = value.clone();
        if remove(&mut smaller, &pointer) && proves(&smaller) {
            value = smaller;
            continue;
        }
        // A text that must stay may still be shorter.
        while budget > 0 && shorten(&mut smaller, &value, &pointer) && proves(&smaller) {
            budget -= 1;
            value = smaller.clone();
        }
    }
    value
}

/// Half of the text at a place; false where there is none to halve.
fn shorten(smaller: &mut Value, value: &Value, pointer: &str) -> bool {
    smaller.clone_from(value);
    match smaller.pointer_mut(pointer) {
        Some(Value::String(text)) if !text.is_empty() => {
            *text = text.chars().take(text.chars().count() / 2).collect();
            true
        }
        _ => false,
    }
}

/// Every part by its pointer, outer ones first, later items before earlier ones.
fn list(at: &str, value: &Value, parts: &mut Vec<String>) {
    if parts.len() >= CUTS {
        return;
    }
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            let members = members.iter().take(CUTS);
            members.map(|(name, member)| (json::child(at, name), member)).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .rev()
            .take(CUTS)
            .map(|(index, item)| (format!("{at}/{index}"), item))
            .collect(),
        _ => return,
    };
    parts.extend(inside.iter().map(|(pointer, _)| pointer.clone()));
    for (pointer, member) in inside {
        list(&pointer, member, parts);
    }
}

fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some(holder) = json::parent(pointer).and_then(|parent| value.pointer_mut(parent)) else {
        return false;
    };
    let name = json::split(pointer).last().unwrap_or_default();
    match holder {
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
