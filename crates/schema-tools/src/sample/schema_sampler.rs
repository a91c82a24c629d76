//! The [`SchemaSampler`], which generates samples by seed and boundary values.

use std::collections::BTreeMap;

use countersign_contract::contract::ReferenceResolver;
use countersign_contract::contract::Schema;
use countersign_contract::json;
use serde_json::Value;

use super::flat_schema::to_standalone_schema;
use super::sample_generator::{BoundaryEdit, SampleGenerator, SampleStyle};
use super::splitmix64::SplitMix64;
use crate::work_budget::{SampleBudget, WorkBudget, count_values};

/// The number of attempts to generate one sample.
const MAX_SAMPLE_ATTEMPTS: u64 = 24;
/// The maximum number of boundary values.
const MAX_BOUNDARY_VALUES: usize = 400;
/// The number of branches of each alternative that are tried for boundary values.
const BOUNDARY_BRANCHES: usize = 4;
/// The maximum size, in JSON values, of all condition schemas that are compiled. Further conditions
/// are ignored.
const MAX_CONDITION_VALUES: usize = 20_000;

/// Generates values that are valid against one schema.
///
/// ```
/// use countersign_schema_tools::SchemaSampler;
/// use serde_json::json;
///
/// let sampler = SchemaSampler::new(&json!({"type": "integer", "minimum": 1, "maximum": 3}));
/// let sample = sampler.generate_sample(7).unwrap();
/// assert_eq!(sampler.generate_sample(7), Some(sample));
/// assert_eq!(sampler.generate_boundary_values(), [json!(1), json!(2), json!(3)]);
/// ```
#[derive(Debug)]
pub struct SchemaSampler {
    source: Value,
    /// The compiled schema; `None` if it does not compile, and then there are no samples.
    schema: Option<Schema>,
    /// The compiled subschemas of conditions, by their text.
    condition_schemas: BTreeMap<String, Schema>,
}

impl SchemaSampler {
    /// Creates a sampler. A schema that does not compile has no samples.
    #[must_use]
    pub fn new(schema: &Value) -> Self {
        let compiled = Schema::compile(schema.clone()).ok();
        let mut condition_schemas = BTreeMap::new();
        if compiled.is_some() {
            let mut left = MAX_CONDITION_VALUES;
            collect_condition_schemas(schema, schema, &mut condition_schemas, &mut left);
        }
        Self { source: schema.clone(), schema: compiled, condition_schemas }
    }

    /// Returns a valid value for the seed; `None` if none was found.
    #[must_use]
    pub fn generate_sample(&self, seed: u64) -> Option<Value> {
        self.with_budget(&WorkBudget::default()).generate_sample(seed)
    }

    /// Returns valid boundary values: the smallest and the largest, with every optional field
    /// absent and present, every member of an enumeration, and every bound with the value one step
    /// inside it.
    #[must_use]
    pub fn generate_boundary_values(&self) -> Vec<Value> {
        self.with_budget(&WorkBudget::default()).generate_boundary_values()
    }

    /// Returns a sampler for the same schema that is limited by a budget.
    pub(crate) fn with_budget<'a>(&'a self, budget: &'a WorkBudget<'a>) -> BudgetedSampler<'a> {
        BudgetedSampler { sampler: self, references: ReferenceResolver::new(&self.source), budget }
    }
}

/// The sampler of one schema with one budget.
#[derive(Debug)]
pub(crate) struct BudgetedSampler<'a> {
    sampler: &'a SchemaSampler,
    references: ReferenceResolver<'a>,
    budget: &'a WorkBudget<'a>,
}

impl BudgetedSampler<'_> {
    /// Returns a valid value for the seed; `None` if none was found.
    pub(crate) fn generate_sample(&self, seed: u64) -> Option<Value> {
        (0..MAX_SAMPLE_ATTEMPTS).find_map(|attempt| {
            if self.budget.is_exhausted() {
                return None;
            }
            let allowance = SampleBudget::new(self.budget);
            let seed = seed.wrapping_mul(MAX_SAMPLE_ATTEMPTS).wrapping_add(attempt);
            let mut maker = self.new_generator(&allowance, SampleStyle::Random, 0, seed);
            // The last attempts leave out everything optional.
            if attempt > MAX_SAMPLE_ATTEMPTS * 3 / 4 {
                maker.style = SampleStyle::Minimal;
                maker.branch_index = maker.random.next_below(16);
            }
            self.keep_valid(maker.generate(&self.sampler.source)?)
        })
    }

    /// Returns valid boundary values, as far as the budget allows.
    pub(crate) fn generate_boundary_values(&self) -> Vec<Value> {
        let mut bases: Vec<Value> = Vec::new();
        let mut edges: Vec<BoundaryEdit> = Vec::new();
        for turn in 0..BOUNDARY_BRANCHES {
            for style in [SampleStyle::Minimal, SampleStyle::Maximal] {
                let allowance = SampleBudget::new(self.budget);
                let mut maker = self.new_generator(&allowance, style, turn, turn as u64);
                bases.extend(
                    maker.generate(&self.sampler.source).and_then(|value| self.keep_valid(value)),
                );
                edges.append(&mut maker.boundary_edits);
            }
        }
        bases.extend((0..4).filter_map(|seed| self.generate_sample(seed)));
        dedup_values(&mut bases);
        let sizes: Vec<u64> = bases.iter().map(|base| count_values(base) as u64).collect();
        let mut found = bases.clone();
        edges.dedup_by(|one, two| one.pointer == two.pointer && one.value == two.value);
        for edge in &edges {
            // An edit often gives a valid value with one base and not with another, because
            // conditions differ.
            let mut affordable = bases
                .iter()
                .zip(&sizes)
                .take_while(|(_, size)| self.budget.spend(**size))
                .filter_map(|(base, _)| apply_edit(base, edge));
            found.extend(affordable.find_map(|value| self.keep_valid(value)));
            if found.len() > MAX_BOUNDARY_VALUES * 2 || self.budget.is_exhausted() {
                break;
            }
        }
        dedup_values(&mut found);
        found.truncate(MAX_BOUNDARY_VALUES);
        found
    }

    fn new_generator<'m>(
        &'m self,
        allowance: &'m SampleBudget<'m>,
        style: SampleStyle,
        turn: usize,
        seed: u64,
    ) -> SampleGenerator<'m> {
        SampleGenerator {
            references: &self.references,
            condition_schemas: &self.sampler.condition_schemas,
            budget: allowance,
            style,
            random: SplitMix64::new(seed),
            branch_index: turn,
            boundary_edits: Vec::new(),
            pointer: String::new(),
            depth: 0,
        }
    }

    fn keep_valid(&self, value: Value) -> Option<Value> {
        let schema = self.sampler.schema.as_ref()?;
        let steps = schema.estimate_validation_steps(&value, self.budget.remaining_steps())?;
        (self.budget.spend(steps) && schema.is_valid(&value)).then_some(value)
    }
}

fn apply_edit(base: &Value, edge: &BoundaryEdit) -> Option<Value> {
    let mut value = base.clone();
    if let Some(new) = &edge.value {
        *value.pointer_mut(&edge.pointer)? = new.clone();
    } else {
        let container = value.pointer_mut(json::parent_pointer(&edge.pointer)?)?.as_object_mut()?;
        let name = json::split_pointer(&edge.pointer).last()?.into_owned();
        container.shift_remove(&name)?;
    }
    Some(value)
}

fn dedup_values(values: &mut Vec<Value>) {
    let mut seen = std::collections::BTreeSet::new();
    values.retain(|value| seen.insert(value.to_string()));
}

fn collect_condition_schemas(
    root: &Value,
    schema: &Value,
    into: &mut BTreeMap<String, Schema>,
    left: &mut usize,
) {
    match schema {
        Value::Object(keywords) => {
            if keywords.contains_key("if") {
                for part in
                    ["if", "then", "else"].into_iter().filter_map(|keyword| keywords.get(keyword))
                {
                    collect_condition_schema(root, part, into, left);
                }
            }
            keywords.values().for_each(|inner| collect_condition_schemas(root, inner, into, left));
        }
        Value::Array(parts) => {
            for inner in parts {
                collect_condition_schemas(root, inner, into, left);
            }
        }
        _ => {}
    }
}

fn collect_condition_schema(
    root: &Value,
    part: &Value,
    into: &mut BTreeMap<String, Schema>,
    left: &mut usize,
) {
    let text = part.to_string();
    if into.contains_key(&text) {
        return;
    }
    // The definitions are included only if they are needed, because there may be many.
    let whole =
        if text.contains("\"$ref\"") { to_standalone_schema(root, part) } else { part.clone() };
    let size = count_values(&whole);
    *left = left.saturating_sub(size);
    if *left == 0 {
        return;
    }
    if let Ok(compiled) = Schema::compile(whole) {
        into.insert(text, compiled);
    }
}
