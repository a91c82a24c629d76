//! Generates one value from a schema by making choices.
//!
//! The generator follows the keywords it knows and leaves `not` and the corner cases to the
//! validation that follows. While it works, it records the boundary values that it passes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use countersign_contract::contract::ReferenceResolver;
use countersign_contract::contract::Schema;
use countersign_contract::json;
use countersign_contract::json::count_bytes;
use serde_json::{Map, Value};

use super::flat_schema::{FlatSchema, SchemaCondition};
use super::number_bounds::NumberBounds;
use super::sample_string;
use super::splitmix64::SplitMix64;
use crate::work_budget::SampleBudget;

/// The depth beyond which only required parts are generated.
const MAX_OPTIONAL_DEPTH: usize = 5;
/// The depth beyond which nothing is generated.
const MAX_GENERATED_DEPTH: usize = 20;
/// The maximum number of boundary edits recorded for one value.
const MAX_BOUNDARY_EDITS: usize = 1_600;

/// How the generator chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleStyle {
    /// The smallest choice everywhere.
    Minimal,
    /// Every field, and more items than required.
    Maximal,
    /// Random choices from the seed.
    Random,
}

/// An edit that produces a boundary value: another value at a pointer, or `None` to remove the
/// field.
#[derive(Debug, Clone)]
pub(super) struct BoundaryEdit {
    pub(super) pointer: String,
    pub(super) value: Option<Value>,
}

/// Generates one value and records boundary edits.
pub(super) struct SampleGenerator<'s> {
    pub(super) references: &'s ReferenceResolver<'s>,
    pub(super) condition_schemas: &'s BTreeMap<String, Schema>,
    pub(super) budget: &'s SampleBudget<'s>,
    pub(super) style: SampleStyle,
    pub(super) random: SplitMix64,
    /// The branch of alternatives that the minimal and maximal styles take.
    pub(super) branch_index: usize,
    pub(super) boundary_edits: Vec<BoundaryEdit>,
    pub(super) pointer: String,
    pub(super) depth: usize,
}

/// The types that are tried if a schema does not restrict the type.
const JSON_TYPES: [&str; 6] = ["object", "string", "integer", "boolean", "array", "null"];

impl<'s> SampleGenerator<'s> {
    /// Generates a value for a schema of the document.
    pub(super) fn generate(&mut self, schema: &'s Value) -> Option<Value> {
        if self.depth > MAX_GENERATED_DEPTH || !self.budget.spend_bytes(1) {
            return None;
        }
        self.depth += 1;
        let value = self.flatten(schema).and_then(|flat| self.generate_flat(flat));
        self.depth -= 1;
        value
    }

    /// Generates a value for a schema that is not part of the document.
    pub(super) fn generate_detached(&mut self, schema: &Value) -> Option<Value> {
        // A separate generator has the shorter lifetime of the schema; references still resolve in
        // the same document.
        let mut maker = SampleGenerator {
            references: self.references,
            condition_schemas: self.condition_schemas,
            budget: self.budget,
            style: self.style,
            random: SplitMix64::new(self.random.next_u64()),
            branch_index: self.branch_index,
            boundary_edits: Vec::new(),
            pointer: std::mem::take(&mut self.pointer),
            depth: self.depth,
        };
        let value = maker.generate(schema);
        let (edges, at) = (maker.boundary_edits, maker.pointer);
        self.boundary_edits.extend(edges);
        self.pointer = at;
        value
    }

    fn generate_flat(&mut self, flat: FlatSchema<'s>) -> Option<Value> {
        let FlatSchema { keywords, conditions } = flat;
        let mut value = self.generate_unconditional(&keywords)?;
        // Satisfying one condition may make another one apply.
        for _ in 0..3 {
            let due: Vec<&Value> = conditions
                .iter()
                .filter_map(|one| self.find_unmet_consequence(one, &value))
                .collect();
            if due.is_empty() {
                break;
            }
            for more in due {
                value = self.satisfy_condition(&keywords, value, more)?;
            }
        }
        Some(value)
    }

    /// Returns the `then` or `else` schema that applies and that the value does not satisfy.
    fn find_unmet_consequence(
        &self,
        condition: &SchemaCondition<'s>,
        value: &Value,
    ) -> Option<&'s Value> {
        let holds = |schema: &Value| {
            let test = self.condition_schemas.get(&schema.to_string())?;
            let steps = test.estimate_validation_steps(value, 10_000)?;
            self.budget.spend(steps as usize).then(|| test.is_valid(value))
        };
        let consequence = if holds(condition.if_schema)? {
            condition.then_schema
        } else {
            condition.else_schema
        }?;
        (holds(consequence) == Some(false)).then_some(consequence)
    }

    fn generate_unconditional(&mut self, keywords: &Map<String, Value>) -> Option<Value> {
        if let Some(members) = keywords.get("enum").and_then(Value::as_array) {
            self.record_boundary_values(members.iter().cloned());
            let chosen = if self.style == SampleStyle::Random {
                self.random.next_below(members.len())
            } else {
                self.branch_index % members.len().max(1)
            };
            let member = members.get(chosen)?;
            return self.budget.spend_bytes(count_bytes(member)).then(|| member.clone());
        }
        let types = infer_types(keywords);
        let chosen = self.choose_branch(types.len());
        if types.len() > 1 {
            let notes: Vec<Value> =
                types.iter().filter_map(|name| generate_simplest(name, keywords)).collect();
            self.record_boundary_values(notes.into_iter());
        }
        match types.get(chosen)?.as_ref() {
            "null" => Some(Value::Null),
            "boolean" => {
                self.record_boundary_values([Value::Bool(false), Value::Bool(true)].into_iter());
                Some(Value::Bool(self.style != SampleStyle::Minimal && self.random.next_bool(50)))
            }
            "integer" => self.generate_number(keywords, true),
            "number" => self.generate_number(keywords, false),
            "string" => self.generate_string(keywords),
            "array" => self.generate_array(keywords),
            "object" => self.generate_object(keywords),
            _ => None,
        }
    }

    fn generate_number(&mut self, keywords: &Map<String, Value>, whole: bool) -> Option<Value> {
        let bounds = NumberBounds::from_keywords(keywords, whole);
        self.record_boundary_values(bounds.boundary_values().into_iter());
        bounds.pick_value(&mut self.random, self.style == SampleStyle::Minimal)
    }

    fn generate_string(&mut self, keywords: &Map<String, Value>) -> Option<Value> {
        let (least, most) = sample_string::read_length_bounds(keywords);
        let free = !keywords.contains_key("pattern") && !keywords.contains_key("format");
        if free && keywords.contains_key("minLength") {
            let edges = [least, least.saturating_add(1)]
                .map(|length| sample_string::generate_words(length.min(2048), &mut self.random));
            self.record_boundary_values(edges.into_iter().map(Value::from));
        }
        if free && most <= 2048 {
            let edges = [most, most.saturating_sub(1)]
                .map(|length| sample_string::generate_words(length, &mut self.random));
            self.record_boundary_values(edges.into_iter().map(Value::from));
        }
        let wanted = match self.style {
            SampleStyle::Minimal => least,
            SampleStyle::Maximal => least.saturating_add(8),
            SampleStyle::Random => least.saturating_add(self.random.next_below(16)),
        };
        let text = sample_string::generate_text(keywords, &mut self.random, wanted)?;
        self.budget.spend_bytes(text.len()).then(|| Value::from(text))
    }

    /// Returns the index of the branch to take.
    pub(super) fn choose_branch(&mut self, count: usize) -> usize {
        match self.style {
            SampleStyle::Random => self.random.next_below(count),
            SampleStyle::Minimal | SampleStyle::Maximal => self.branch_index % count.max(1),
        }
    }

    /// Returns whether to generate an optional field.
    pub(super) fn wants_optional(&mut self) -> bool {
        match self.style {
            SampleStyle::Minimal => false,
            SampleStyle::Maximal => self.depth <= MAX_OPTIONAL_DEPTH + 1,
            SampleStyle::Random => {
                self.random.next_bool(if self.depth <= MAX_OPTIONAL_DEPTH { 50 } else { 10 })
            }
        }
    }

    /// Returns the number of items to generate, between `least` and `most`.
    pub(super) fn choose_count(&mut self, least: usize, most: usize) -> usize {
        let room = most.saturating_sub(least);
        least
            + match self.style {
                SampleStyle::Minimal => 0,
                _ if self.depth > MAX_OPTIONAL_DEPTH + 1 => 0,
                SampleStyle::Maximal => room.min(2),
                SampleStyle::Random => self.random.next_below(room.min(3) + 1),
            }
    }

    pub(super) fn record_boundary_values(&mut self, values: impl Iterator<Item = Value>) {
        for value in values.take(MAX_BOUNDARY_EDITS.saturating_sub(self.boundary_edits.len())) {
            if !self.budget.spend(1 + (self.pointer.len() + count_bytes(&value)) / 16) {
                break;
            }
            self.boundary_edits
                .push(BoundaryEdit { pointer: self.pointer.clone(), value: Some(value) });
        }
    }

    pub(super) fn with_segment<T>(&mut self, segment: &str, act: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        json::push_segment(&mut self.pointer, segment);
        let outcome = act(self);
        self.pointer.truncate(length);
        outcome
    }
}

/// Returns the types that a value may have: the declared ones, the one that the keywords imply, or
/// all.
fn infer_types(keywords: &Map<String, Value>) -> Vec<Cow<'_, str>> {
    match keywords.get("type") {
        Some(Value::String(name)) => return vec![Cow::Borrowed(name)],
        Some(Value::Array(names)) => {
            return names.iter().filter_map(Value::as_str).map(Cow::Borrowed).collect();
        }
        _ => {}
    }
    let speaks = |words: &[&str]| words.iter().any(|word| keywords.contains_key(*word));
    let inferred = if speaks(&[
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "minProperties",
        "maxProperties",
        "propertyNames",
    ]) {
        "object"
    } else if speaks(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]) {
        "array"
    } else if speaks(&["pattern", "minLength", "maxLength", "format"]) {
        "string"
    } else if speaks(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
    {
        "number"
    } else {
        return JSON_TYPES.map(Cow::Borrowed).to_vec();
    };
    vec![Cow::Borrowed(inferred)]
}

fn generate_simplest(name: &str, keywords: &Map<String, Value>) -> Option<Value> {
    let mut random = SplitMix64::new(0);
    match name {
        "null" => Some(Value::Null),
        "boolean" => Some(Value::Bool(false)),
        "integer" | "number" => {
            NumberBounds::from_keywords(keywords, name == "integer").pick_value(&mut random, true)
        }
        "string" => sample_string::generate_text(keywords, &mut random, 4).map(Value::from),
        "array" => Some(Value::Array(Vec::new())),
        "object" => Some(Value::Object(Map::new())),
        _ => None,
    }
}
