//! A schema brought into one of a few shapes that every target can be asked about.
//!
//! `allOf` and references with company are folded in. What no target can say (conditions, `not`,
//! dependencies) is set aside and listed.

use serde_json::{Map, Value};

use crate::contract::Schema;
use crate::contract::describe::ANNOTATIONS;
use crate::contract::reference::References;
use crate::contract::sample::merge;

/// Nested references and `allOf` that are folded into one place. More are dropped as `limit`.
const MAX_FOLD_DEPTH: usize = 100;
/// Subschemas that are folded into one place. More are dropped as `limit`.
const MAX_FOLDED: usize = 5_000;

/// What a schema amounts to.
#[derive(Debug)]
pub(super) enum Shape {
    /// Every value.
    Anything,
    /// No value.
    Nothing,
    /// Whatever stands at this pointer of the document.
    Reference(String),
    /// One of these; exactly one where the keyword is `oneOf`. The keywords beside them hold too.
    Alternatives(Vec<Value>, &'static str, Map<String, Value>),
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
    /// Whether a reference was folded into this place.
    pub(super) unfolded: bool,
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
pub(super) const TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// Brings a schema of the document into its shape; `at` is where it stands.
pub(super) fn normal(references: &References<'_>, schema: &Value, at: &str) -> Normal {
    let description = schema.get("description").and_then(Value::as_str).map(str::to_owned);
    let mut folding = Folding {
        references,
        dropped: Vec::new(),
        following: Vec::new(),
        left: MAX_FOLDED,
        unfolded: false,
    };
    let keywords = folding.fold(schema, at, 0);
    let Folding { mut dropped, unfolded, .. } = folding;
    let shape = match keywords {
        None => Shape::Nothing,
        Some(keywords) => shape(references, keywords, at, &mut dropped),
    };
    Normal { shape, dropped, unfolded, description }
}

/// A branch of alternatives together with the keywords beside them.
pub(super) fn with_beside(beside: &Map<String, Value>, branch: &Value) -> Value {
    if beside.is_empty() {
        return branch.clone();
    }
    let both = Value::Array(vec![Value::Object(beside.clone()), branch.clone()]);
    Value::Object(Map::from_iter([("allOf".to_owned(), both)]))
}

struct Folding<'r, 's> {
    references: &'r References<'s>,
    dropped: Vec<(String, String)>,
    /// The pointers of the references on the way here: one that leads back to itself for the same
    /// value says nothing more.
    following: Vec<String>,
    left: usize,
    unfolded: bool,
}

impl Folding<'_, '_> {
    /// All that is said of the value, in one object; `None` where nothing fits.
    fn fold(&mut self, schema: &Value, at: &str, depth: usize) -> Option<Map<String, Value>> {
        let said = match schema {
            Value::Bool(true) => return Some(Map::new()),
            Value::Object(said) => said,
            _ => return None,
        };
        if depth > MAX_FOLD_DEPTH || self.left == 0 {
            self.dropped.push((at.to_owned(), "limit".to_owned()));
            return Some(Map::new());
        }
        self.left -= 1;
        if let (true, Some(reference)) = (self.references.ignores_siblings, said.get("$ref")) {
            return Some(Map::from_iter([("$ref".to_owned(), reference.clone())]));
        }
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
            let at = format!("{at}/allOf/{index}");
            let mut inner = self.fold(part, &at, depth + 1)?;
            if keywords.contains_key("$ref") || (inner.contains_key("$ref") && !keywords.is_empty())
            {
                keywords = self.follow(keywords, &at, depth)?;
                inner = self.follow(inner, &at, depth)?;
            }
            for keyword in ["anyOf", "oneOf"] {
                if keywords.contains_key(keyword) && inner.shift_remove(keyword).is_some() {
                    self.dropped.push((at.clone(), keyword.to_owned()));
                }
            }
            keywords = merge(keywords, inner);
        }
        if keywords.len() > 1 && keywords.contains_key("$ref") {
            keywords = self.follow(keywords, at, depth)?;
        }
        Some(keywords)
    }

    /// Puts what a reference leads to in its place.
    fn follow(
        &mut self,
        mut keywords: Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let Some(reference) = keywords.shift_remove("$ref") else { return Some(keywords) };
        let target = reference.as_str().and_then(|reference| self.references.resolve(reference));
        let Some((pointer, target)) = target else {
            self.dropped.push((at.to_owned(), "$ref".to_owned()));
            return Some(keywords);
        };
        self.unfolded = true;
        if self.following.contains(&pointer) {
            return Some(keywords);
        }
        self.following.push(pointer.clone());
        let referred = self.fold(target, &pointer, depth + 1);
        let referred = referred.and_then(|said| self.follow(said, &pointer, depth + 1));
        self.following.pop();
        Some(merge(keywords, referred?))
    }
}

fn shape(
    references: &References<'_>,
    mut keywords: Map<String, Value>,
    at: &str,
    dropped: &mut Vec<(String, String)>,
) -> Shape {
    if keywords.is_empty() {
        return Shape::Anything;
    }
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        return match references.resolve(reference) {
            Some((pointer, _)) => Shape::Reference(pointer),
            None => {
                dropped.push((at.to_owned(), "$ref".to_owned()));
                Shape::Anything
            }
        };
    }
    if keywords.contains_key("enum") || keywords.contains_key("const") {
        let members = members(keywords);
        return if members.is_empty() { Shape::Nothing } else { Shape::Members(members) };
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = keywords.shift_remove(keyword) {
            if keywords.shift_remove(if keyword == "oneOf" { "anyOf" } else { "oneOf" }).is_some() {
                dropped.push((at.to_owned(), "anyOf".to_owned()));
            }
            return Shape::Alternatives(branches, keyword, keywords);
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

/// The listed values that the other keywords take too.
fn members(mut keywords: Map<String, Value>) -> Vec<Value> {
    let listed = match (keywords.shift_remove("const"), keywords.shift_remove("enum")) {
        (Some(value), Some(Value::Array(listed))) if !listed.contains(&value) => Vec::new(),
        (Some(value), _) => vec![value],
        (None, Some(Value::Array(listed))) => listed,
        (None, _) => Vec::new(),
    };
    if keywords.is_empty() {
        return listed;
    }
    // What refers to definitions speaks of the inside of lists and objects, which are seldom listed.
    keywords.retain(|_, said| !said.to_string().contains("\"$ref\""));
    let others = Value::Object(keywords);
    let compiled = Schema::compile(others).ok();
    let fits = |member: &Value| compiled.as_ref().is_none_or(|schema| schema.is_valid(member));
    listed.into_iter().filter(fits).collect()
}
