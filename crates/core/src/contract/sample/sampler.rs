//! The door: samples by number, and the values at the edges.

use std::collections::BTreeMap;

use serde_json::Value;

use super::flat::standing_alone;
use super::make::{Edge, Maker, Style};
use super::random::Random;
use crate::contract::Schema;
use crate::contract::budget::{Allowance, WorkBudget, count_values};
use crate::contract::reference::References;
use crate::json;

/// So often a sample is tried again before it is given up.
const TRIES: u64 = 24;
/// At most so many values at the edges.
const MOST_EDGES: usize = 400;
/// So many branches of alternatives are walked for the edges.
const TURNS: usize = 4;
/// Values of all the conditions that are compiled to be tested. More conditions are not looked at.
const MAX_TEST_VALUES: usize = 20_000;

/// Makes values that are valid under one schema.
///
/// ```
/// use countersign_core::contract::Sampler;
/// use serde_json::json;
///
/// let sampler = Sampler::new(&json!({"type": "integer", "minimum": 1, "maximum": 3}));
/// let sample = sampler.sample(7).unwrap();
/// assert_eq!(sampler.sample(7), Some(sample));
/// assert_eq!(sampler.boundary(), [json!(1), json!(2), json!(3)]);
/// ```
#[derive(Debug)]
pub struct Sampler {
    source: Value,
    /// Without one there is nothing to check against, and so there are no samples.
    schema: Option<Schema>,
    /// The subschemas of conditions, by their text.
    tests: BTreeMap<String, Schema>,
}

impl Sampler {
    /// Looks at a schema. One that does not compile has no samples.
    #[must_use]
    pub fn new(schema: &Value) -> Self {
        let compiled = Schema::compile(schema.clone()).ok();
        let mut tests = BTreeMap::new();
        if compiled.is_some() {
            let mut left = MAX_TEST_VALUES;
            collect_tests(schema, schema, &mut tests, &mut left);
        }
        Self { source: schema.clone(), schema: compiled, tests }
    }

    /// A valid value; `None` where none was found.
    #[must_use]
    pub fn sample(&self, seed: u64) -> Option<Value> {
        self.within(&WorkBudget::default()).sample(seed)
    }

    /// Valid values at the edges: the least and the most, every optional field absent and present,
    /// every member of an enumeration, every bound and one step inside it.
    #[must_use]
    pub fn boundary(&self) -> Vec<Value> {
        self.within(&WorkBudget::default()).boundary()
    }

    /// The same samples, as far as a budget lasts.
    pub(in crate::contract) fn within<'a>(&'a self, budget: &'a WorkBudget<'a>) -> Samples<'a> {
        Samples { sampler: self, references: References::new(&self.source), budget }
    }
}

/// The samples of one schema under one budget.
#[derive(Debug)]
pub(in crate::contract) struct Samples<'a> {
    sampler: &'a Sampler,
    references: References<'a>,
    budget: &'a WorkBudget<'a>,
}

impl Samples<'_> {
    /// A valid value; `None` where none was found.
    pub(in crate::contract) fn sample(&self, seed: u64) -> Option<Value> {
        (0..TRIES).find_map(|attempt| {
            if self.budget.is_exhausted() {
                return None;
            }
            let allowance = Allowance::new(self.budget);
            let seed = seed.wrapping_mul(TRIES).wrapping_add(attempt);
            let mut maker = self.maker(&allowance, Style::Random, 0, seed);
            // Late tries leave out what need not be there.
            if attempt > TRIES * 3 / 4 {
                maker.style = Style::Minimal;
                maker.turn = maker.random.below(16);
            }
            self.valid(maker.make(&self.sampler.source)?)
        })
    }

    /// Valid values at the edges.
    pub(in crate::contract) fn boundary(&self) -> Vec<Value> {
        let mut bases: Vec<Value> = Vec::new();
        let mut edges: Vec<Edge> = Vec::new();
        for turn in 0..TURNS {
            for style in [Style::Minimal, Style::Maximal] {
                let allowance = Allowance::new(self.budget);
                let mut maker = self.maker(&allowance, style, turn, turn as u64);
                bases.extend(maker.make(&self.sampler.source).and_then(|value| self.valid(value)));
                edges.append(&mut maker.edges);
            }
        }
        bases.extend((0..4).filter_map(|seed| self.sample(seed)));
        dedup(&mut bases);
        let sizes: Vec<u64> = bases.iter().map(|base| count_values(base) as u64).collect();
        let mut found = bases.clone();
        edges.dedup_by(|one, two| one.pointer == two.pointer && one.value == two.value);
        for edge in &edges {
            // A value that fits from one start often does not from another: conditions differ.
            let mut affordable = bases
                .iter()
                .zip(&sizes)
                .take_while(|(_, size)| self.budget.spend(**size))
                .filter_map(|(base, _)| changed(base, edge));
            found.extend(affordable.find_map(|value| self.valid(value)));
            if found.len() > MOST_EDGES * 2 || self.budget.is_exhausted() {
                break;
            }
        }
        dedup(&mut found);
        found.truncate(MOST_EDGES);
        found
    }

    fn maker<'m>(
        &'m self,
        allowance: &'m Allowance<'m>,
        style: Style,
        turn: usize,
        seed: u64,
    ) -> Maker<'m> {
        Maker {
            references: &self.references,
            tests: &self.sampler.tests,
            allowance,
            style,
            random: Random::new(seed),
            turn,
            edges: Vec::new(),
            at: String::new(),
            depth: 0,
        }
    }

    fn valid(&self, value: Value) -> Option<Value> {
        let schema = self.sampler.schema.as_ref()?;
        let steps = schema.validation_steps(&value, self.budget.left())?;
        (self.budget.spend(steps) && schema.is_valid(&value)).then_some(value)
    }
}

fn changed(base: &Value, edge: &Edge) -> Option<Value> {
    let mut value = base.clone();
    if let Some(new) = &edge.value {
        *value.pointer_mut(&edge.pointer)? = new.clone();
    } else {
        let holder = value.pointer_mut(json::parent(&edge.pointer)?)?.as_object_mut()?;
        let name = json::split(&edge.pointer).last()?.into_owned();
        holder.shift_remove(&name)?;
    }
    Some(value)
}

fn dedup(values: &mut Vec<Value>) {
    let mut seen = std::collections::BTreeSet::new();
    values.retain(|value| seen.insert(value.to_string()));
}

fn collect_tests(
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
                    collect_test(root, part, into, left);
                }
            }
            keywords.values().for_each(|inner| collect_tests(root, inner, into, left));
        }
        Value::Array(parts) => {
            for inner in parts {
                collect_tests(root, inner, into, left);
            }
        }
        _ => {}
    }
}

fn collect_test(root: &Value, part: &Value, into: &mut BTreeMap<String, Schema>, left: &mut usize) {
    let text = part.to_string();
    if into.contains_key(&text) {
        return;
    }
    // The definitions come along only where they are needed: there may be many.
    let whole = if text.contains("\"$ref\"") { standing_alone(root, part) } else { part.clone() };
    let size = count_values(&whole);
    *left = left.saturating_sub(size);
    if *left == 0 {
        return;
    }
    if let Ok(compiled) = Schema::compile(whole) {
        into.insert(text, compiled);
    }
}
