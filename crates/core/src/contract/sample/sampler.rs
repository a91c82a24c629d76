//! The door: samples by number, and the values at the edges.

use std::collections::BTreeMap;

use serde_json::Value;

use super::flat::standing_alone;
use super::make::{Edge, Maker, Style};
use super::random::Random;
use crate::contract::Schema;
use crate::json;

/// So often a sample is tried again before it is given up.
const TRIES: u64 = 24;
/// At most so many values at the edges.
const MOST_EDGES: usize = 400;
/// So many branches of alternatives are walked for the edges.
const TURNS: usize = 4;

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
        let mut tests = BTreeMap::new();
        collect_tests(schema, schema, &mut tests);
        Self { source: schema.clone(), schema: Schema::compile(schema.clone()).ok(), tests }
    }

    /// A valid value; `None` where none was found.
    #[must_use]
    pub fn sample(&self, seed: u64) -> Option<Value> {
        (0..TRIES).find_map(|attempt| {
            let mut maker =
                self.maker(Style::Random, 0, seed.wrapping_mul(TRIES).wrapping_add(attempt));
            // Late tries leave out what need not be there.
            if attempt > TRIES * 3 / 4 {
                maker.style = Style::Minimal;
                maker.turn = maker.random.below(16);
            }
            self.valid(maker.make(&self.source)?)
        })
    }

    /// Valid values at the edges: the least and the most, every optional field absent and present,
    /// every member of an enumeration, every bound and one step inside it.
    #[must_use]
    pub fn boundary(&self) -> Vec<Value> {
        let mut bases: Vec<Value> = Vec::new();
        let mut edges: Vec<Edge> = Vec::new();
        for turn in 0..TURNS {
            for style in [Style::Minimal, Style::Maximal] {
                let mut maker = self.maker(style, turn, turn as u64);
                bases.extend(maker.make(&self.source).and_then(|value| self.valid(value)));
                edges.append(&mut maker.edges);
            }
        }
        bases.extend((0..4).filter_map(|seed| self.sample(seed)));
        dedup(&mut bases);
        let mut found = bases.clone();
        edges.dedup_by(|one, two| one.pointer == two.pointer && one.value == two.value);
        for edge in &edges {
            // A value that fits from one start often does not from another: conditions differ.
            let reached = bases
                .iter()
                .filter_map(|base| changed(base, edge))
                .find_map(|value| self.valid(value));
            found.extend(reached);
            if found.len() > MOST_EDGES * 2 {
                break;
            }
        }
        dedup(&mut found);
        found.truncate(MOST_EDGES);
        found
    }

    fn maker(&self, style: Style, turn: usize, seed: u64) -> Maker<'_> {
        Maker {
            root: &self.source,
            tests: &self.tests,
            style,
            random: Random::new(seed),
            turn,
            edges: Vec::new(),
            at: String::new(),
            depth: 0,
        }
    }

    fn valid(&self, value: Value) -> Option<Value> {
        self.schema.as_ref()?.is_valid(&value).then_some(value)
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

fn collect_tests(root: &Value, schema: &Value, into: &mut BTreeMap<String, Schema>) {
    match schema {
        Value::Object(keywords) => {
            if keywords.contains_key("if") {
                for part in
                    ["if", "then", "else"].into_iter().filter_map(|keyword| keywords.get(keyword))
                {
                    if let Ok(compiled) = Schema::compile(standing_alone(root, part)) {
                        into.insert(part.to_string(), compiled);
                    }
                }
            }
            keywords.values().for_each(|inner| collect_tests(root, inner, into));
        }
        Value::Array(parts) => parts.iter().for_each(|inner| collect_tests(root, inner, into)),
        _ => {}
    }
}
