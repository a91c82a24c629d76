//! A schema brought into one of a few shapes that every target can be asked about.
//!
//! `allOf` and references with company are folded in. What no target can say (conditions, `not`,
//! dependencies) is set aside and listed.

use serde_json::{Map, Value, json};

use crate::contract::Schema;
use crate::contract::describe::ANNOTATIONS;
use crate::contract::sample::{merge, standing_alone};

/// References and `allOf` deeper than this are not followed.
const DEEPEST: usize = 16;

/// What a schema amounts to.
#[derive(Debug)]
pub(super) enum Shape {
    /// Every value.
    Anything,
    /// No value.
    Nothing,
    /// Whatever stands at this pointer of the document.
    Reference(String),
    /// One of these; exactly one where the keyword is `oneOf`.
    Alternatives(Vec<Value>, &'static str),
    /// One of these values.
    Members(Vec<Value>),
    /// A value of one of these types, with these keywords.
    Typed(Vec<String>, Map<String, Value>),
}

/// A schema in its shape.
#[derive(Debug)]
pub(super) struct Normal {
    pub(super) shape: Shape,
    /// Places and keywords that were set aside.
    pub(super) dropped: Vec<(String, String)>,
    pub(super) description: Option<String>,
}

/// Keywords that stand beside what a value must be.
const BESIDE: [&str; 4] = ["$id", "$defs", "definitions", "default"];
const UNSAYABLE: [&str; 11] = [
    "if",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "$dynamicRef",
    "minContains",
];
/// Every type; `number` stands for integers too.
const TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// Brings a schema of the document into its shape; `at` is where it stands.
pub(super) fn normal(root: &Value, schema: &Value, at: &str) -> Normal {
    let description = schema.get("description").and_then(Value::as_str).map(str::to_owned);
    let mut folding = Folding { root, dropped: Vec::new() };
    let keywords = folding.fold(schema, at, 0);
    let mut dropped = folding.dropped;
    let shape = match keywords {
        None => Shape::Nothing,
        Some(keywords) => shape(root, keywords, at, &mut dropped),
    };
    Normal { shape, dropped, description }
}

struct Folding<'r> {
    root: &'r Value,
    dropped: Vec<(String, String)>,
}

impl Folding<'_> {
    /// All that is said of the value, in one object; `None` where nothing fits.
    fn fold(&mut self, schema: &Value, at: &str, depth: usize) -> Option<Map<String, Value>> {
        let said = match schema {
            Value::Bool(true) => return Some(Map::new()),
            Value::Object(said) if depth <= DEEPEST => said,
            _ => return None,
        };
        let mut keywords = Map::new();
        for (keyword, value) in said {
            match keyword.as_str() {
                word if ANNOTATIONS.contains(&word) || BESIDE.contains(&word) => {}
                "allOf" | "then" | "else" => {}
                word if UNSAYABLE.contains(&word) => {
                    self.dropped.push((at.to_owned(), keyword.clone()));
                }
                _ => {
                    keywords.insert(keyword.clone(), value.clone());
                }
            }
        }
        let parts =
            said.get("allOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (index, part) in parts.iter().enumerate() {
            let mut inner = self.fold(part, &format!("{at}/allOf/{index}"), depth + 1)?;
            if keywords.contains_key("$ref") || (inner.contains_key("$ref") && !keywords.is_empty())
            {
                keywords = self.follow(keywords, depth)?;
                inner = self.follow(inner, depth)?;
            }
            for keyword in ["anyOf", "oneOf"] {
                if keywords.contains_key(keyword) && inner.shift_remove(keyword).is_some() {
                    self.dropped.push((format!("{at}/allOf/{index}"), keyword.to_owned()));
                }
            }
            keywords = merge(keywords, inner);
        }
        if keywords.len() > 1 && keywords.contains_key("$ref") {
            keywords = self.follow(keywords, depth)?;
        }
        Some(keywords)
    }

    /// Puts what a reference leads to in its place.
    fn follow(
        &mut self,
        mut keywords: Map<String, Value>,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let Some(reference) = keywords.shift_remove("$ref") else { return Some(keywords) };
        let pointer = reference
            .as_str()
            .and_then(|reference| reference.strip_prefix('#'))
            .unwrap_or_default();
        let target = self.root.pointer(pointer)?.clone();
        let referred = self.fold(&target, pointer, depth + 1)?;
        let referred = self.follow(referred, depth + 1)?;
        Some(merge(keywords, referred))
    }
}

fn shape(
    root: &Value,
    mut keywords: Map<String, Value>,
    at: &str,
    dropped: &mut Vec<(String, String)>,
) -> Shape {
    if keywords.is_empty() {
        return Shape::Anything;
    }
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        return Shape::Reference(reference.strip_prefix('#').unwrap_or_default().to_owned());
    }
    if keywords.contains_key("enum") || keywords.contains_key("const") {
        let whole = Value::Object(keywords.clone());
        let listed = keywords.get("const").map_or_else(
            || keywords["enum"].as_array().cloned(),
            |value| Some(vec![value.clone()]),
        );
        let compiled = Schema::compile(standing_alone(root, &whole)).ok();
        let fits = |member: &Value| compiled.as_ref().is_none_or(|schema| schema.is_valid(member));
        let members: Vec<Value> = listed.unwrap_or_default().into_iter().filter(fits).collect();
        return if members.is_empty() { Shape::Nothing } else { Shape::Members(members) };
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = keywords.shift_remove(keyword) {
            if keywords.shift_remove(if keyword == "oneOf" { "anyOf" } else { "oneOf" }).is_some() {
                dropped.push((at.to_owned(), "anyOf".to_owned()));
            }
            let beside = |branch: Value| {
                if keywords.is_empty() { branch } else { json!({"allOf": [keywords, branch]}) }
            };
            return Shape::Alternatives(branches.into_iter().map(beside).collect(), keyword);
        }
    }
    let types = match keywords.shift_remove("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => TYPES.map(str::to_owned).to_vec(),
    };
    if types.is_empty() { Shape::Nothing } else { Shape::Typed(types, keywords) }
}
