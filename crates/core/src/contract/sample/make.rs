//! One value out of a schema: the choices, and what they lead to.
//!
//! A maker is optimistic: it follows the keywords it knows and leaves `not` and the corners to the
//! check that follows. While it works it can note the edges it passes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::flat::{Condition, Flat};
use super::number::Bounds;
use super::random::Random;
use super::text;
use crate::contract::Schema;
use crate::contract::budget::{Allowance, count_bytes};
use crate::contract::reference::References;
use crate::json;

/// Deeper than this only what must be there is made.
const SHALLOW: usize = 5;
/// Deeper than this nothing is made.
const DEEPEST: usize = 20;
/// Edges that one value may have.
const MAX_EDGES: usize = 1_600;

/// How a maker chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// The least of everything.
    Minimal,
    /// Every field, and more than the least of items.
    Maximal,
    /// As the numbers fall.
    Random,
}

/// A change that leads to an edge: another value at a place, or none.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) pointer: String,
    pub(super) value: Option<Value>,
}

/// Makes one value.
pub(super) struct Maker<'s> {
    pub(super) references: &'s References<'s>,
    pub(super) tests: &'s BTreeMap<String, Schema>,
    pub(super) allowance: &'s Allowance<'s>,
    pub(super) style: Style,
    pub(super) random: Random,
    /// Which branch of alternatives the calm styles take.
    pub(super) turn: usize,
    pub(super) edges: Vec<Edge>,
    pub(super) at: String,
    pub(super) depth: usize,
}

/// A type that a value may have.
const TYPES: [&str; 6] = ["object", "string", "integer", "boolean", "array", "null"];

impl<'s> Maker<'s> {
    /// A value for a schema of the document.
    pub(super) fn make(&mut self, schema: &'s Value) -> Option<Value> {
        if self.depth > DEEPEST || !self.allowance.take(1) {
            return None;
        }
        self.depth += 1;
        let value = self.flatten(schema).and_then(|flat| self.make_flat(flat));
        self.depth -= 1;
        value
    }

    /// A value for a schema that stands nowhere in the document.
    pub(super) fn make_loose(&mut self, schema: &Value) -> Option<Value> {
        // References inside it point into the same document, so it borrows the root's lifetime
        // by being made with a maker of its own.
        let mut maker = Maker {
            references: self.references,
            tests: self.tests,
            allowance: self.allowance,
            style: self.style,
            random: Random::new(self.random.next()),
            turn: self.turn,
            edges: Vec::new(),
            at: std::mem::take(&mut self.at),
            depth: self.depth,
        };
        let value = maker.make(schema);
        let (edges, at) = (maker.edges, maker.at);
        self.edges.extend(edges);
        self.at = at;
        value
    }

    fn make_flat(&mut self, flat: Flat<'s>) -> Option<Value> {
        let Flat { keywords, conditions } = flat;
        let mut value = self.plain(&keywords)?;
        // What one condition adds may make another one hold.
        for _ in 0..3 {
            let due: Vec<&Value> =
                conditions.iter().filter_map(|one| self.due(one, &value)).collect();
            if due.is_empty() {
                break;
            }
            for more in due {
                value = self.amend(&keywords, value, more)?;
            }
        }
        Some(value)
    }

    /// What a condition still asks of the value.
    fn due(&self, condition: &Condition<'s>, value: &Value) -> Option<&'s Value> {
        let holds = |schema: &Value| {
            let test = self.tests.get(&schema.to_string())?;
            let steps = test.validation_steps(value, 10_000)?;
            self.allowance.spend(steps as usize).then(|| test.is_valid(value))
        };
        let asked = if holds(condition.test)? { condition.then } else { condition.otherwise }?;
        (holds(asked) == Some(false)).then_some(asked)
    }

    fn plain(&mut self, keywords: &Map<String, Value>) -> Option<Value> {
        if let Some(members) = keywords.get("enum").and_then(Value::as_array) {
            self.note(members.iter().cloned());
            let chosen = if self.style == Style::Random {
                self.random.below(members.len())
            } else {
                self.turn % members.len().max(1)
            };
            let member = members.get(chosen)?;
            return self.allowance.take(count_bytes(member)).then(|| member.clone());
        }
        let types = types(keywords);
        let chosen = self.branch(types.len());
        if types.len() > 1 {
            let notes: Vec<Value> =
                types.iter().filter_map(|name| simplest(name, keywords)).collect();
            self.note(notes.into_iter());
        }
        match types.get(chosen)?.as_ref() {
            "null" => Some(Value::Null),
            "boolean" => {
                self.note([Value::Bool(false), Value::Bool(true)].into_iter());
                Some(Value::Bool(self.style != Style::Minimal && self.random.chance(50)))
            }
            "integer" => self.number(keywords, true),
            "number" => self.number(keywords, false),
            "string" => self.string(keywords),
            "array" => self.array(keywords),
            "object" => self.object(keywords),
            _ => None,
        }
    }

    fn number(&mut self, keywords: &Map<String, Value>, whole: bool) -> Option<Value> {
        let bounds = Bounds::of(keywords, whole);
        self.note(bounds.edges().into_iter());
        bounds.pick(&mut self.random, self.style == Style::Minimal)
    }

    fn string(&mut self, keywords: &Map<String, Value>) -> Option<Value> {
        let (least, most) = text::lengths(keywords);
        let free = !keywords.contains_key("pattern") && !keywords.contains_key("format");
        if free && keywords.contains_key("minLength") {
            let edges = [least, least.saturating_add(1)]
                .map(|length| text::words(length.min(2048), &mut self.random));
            self.note(edges.into_iter().map(Value::from));
        }
        if free && most <= 2048 {
            let edges =
                [most, most.saturating_sub(1)].map(|length| text::words(length, &mut self.random));
            self.note(edges.into_iter().map(Value::from));
        }
        let wanted = match self.style {
            Style::Minimal => least,
            Style::Maximal => least.saturating_add(8),
            Style::Random => least.saturating_add(self.random.below(16)),
        };
        let text = text::text(keywords, &mut self.random, wanted)?;
        self.allowance.take(text.len()).then(|| Value::from(text))
    }

    /// Which of several branches to take.
    pub(super) fn branch(&mut self, count: usize) -> usize {
        match self.style {
            Style::Random => self.random.below(count),
            Style::Minimal | Style::Maximal => self.turn % count.max(1),
        }
    }

    /// Whether a field that may be absent is made.
    pub(super) fn wants_optional(&mut self) -> bool {
        match self.style {
            Style::Minimal => false,
            Style::Maximal => self.depth <= SHALLOW + 1,
            Style::Random => self.random.chance(if self.depth <= SHALLOW { 50 } else { 10 }),
        }
    }

    /// How many items or fields, of so many to so many.
    pub(super) fn count(&mut self, least: usize, most: usize) -> usize {
        let room = most.saturating_sub(least);
        least
            + match self.style {
                Style::Minimal => 0,
                _ if self.depth > SHALLOW + 1 => 0,
                Style::Maximal => room.min(2),
                Style::Random => self.random.below(room.min(3) + 1),
            }
    }

    pub(super) fn note(&mut self, values: impl Iterator<Item = Value>) {
        for value in values.take(MAX_EDGES.saturating_sub(self.edges.len())) {
            if !self.allowance.spend(1 + (self.at.len() + count_bytes(&value)) / 16) {
                break;
            }
            self.edges.push(Edge { pointer: self.at.clone(), value: Some(value) });
        }
    }

    pub(super) fn inside<T>(&mut self, segment: &str, act: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.at.len();
        json::push(&mut self.at, segment);
        let outcome = act(self);
        self.at.truncate(length);
        outcome
    }
}

/// The types a value may have: those declared, or those the keywords speak of, or all.
fn types(keywords: &Map<String, Value>) -> Vec<Cow<'_, str>> {
    match keywords.get("type") {
        Some(Value::String(name)) => return vec![Cow::Borrowed(name)],
        Some(Value::Array(names)) => {
            return names.iter().filter_map(Value::as_str).map(Cow::Borrowed).collect();
        }
        _ => {}
    }
    let speaks = |words: &[&str]| words.iter().any(|word| keywords.contains_key(*word));
    let spoken = if speaks(&[
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
        return TYPES.map(Cow::Borrowed).to_vec();
    };
    vec![Cow::Borrowed(spoken)]
}

fn simplest(name: &str, keywords: &Map<String, Value>) -> Option<Value> {
    let mut random = Random::new(0);
    match name {
        "null" => Some(Value::Null),
        "boolean" => Some(Value::Bool(false)),
        "integer" | "number" => Bounds::of(keywords, name == "integer").pick(&mut random, true),
        "string" => text::text(keywords, &mut random, 4).map(Value::from),
        "array" => Some(Value::Array(Vec::new())),
        "object" => Some(Value::Object(Map::new())),
        _ => None,
    }
}
