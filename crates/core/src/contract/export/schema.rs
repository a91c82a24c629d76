//! A schema in the language of one provider.
//!
//! Definitions stay definitions. Every keyword the provider does not take is dropped and listed;
//! what its language forces narrower than the contract is listed as narrowed.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::loss::{Effect, Export, Loss};
use super::normal::{Normal, Shape, normal};
use super::nullable;
use super::vendor::Vendor;
use crate::contract::compat::disjoint;
use crate::json;

/// The definition that stands for any value, where a definition may refer to itself.
const ANY: &str = "AnyJson";

/// Exports a schema for a vendor.
pub(super) fn export(root: &Value, vendor: &Vendor) -> Export {
    let mut writer = Writer {
        root,
        vendor,
        losses: Vec::new(),
        names: BTreeMap::new(),
        waiting: Vec::new(),
        uses_any: false,
    };
    let mut out = writer.root();
    let mut definitions = Map::new();
    while let Some((pointer, name)) = writer.waiting.pop() {
        let schema = root.pointer(&pointer).cloned().unwrap_or(Value::Bool(true));
        definitions.insert(name, writer.schema(&schema, &pointer));
    }
    if writer.uses_any {
        definitions
            .insert(ANY.to_owned(), any_value(&json!({"$ref": format!("#/$defs/{ANY}")}), false));
    }
    if let (Some(keywords), false) = (out.as_object_mut(), definitions.is_empty()) {
        keywords.insert("$defs".to_owned(), Value::Object(definitions));
    }
    writer.limits(&out);
    let nullable = if vendor.all_required { nullable::places(root) } else { Vec::new() };
    Export { schema_or_grammar: out, losses: writer.losses, nullable }
}

pub(super) struct Writer<'r> {
    pub(super) root: &'r Value,
    pub(super) vendor: &'r Vendor,
    losses: Vec<Loss>,
    /// Definitions by the pointer they come from.
    names: BTreeMap<String, String>,
    waiting: Vec<(String, String)>,
    uses_any: bool,
}

impl Writer<'_> {
    pub(super) fn lose(&mut self, pointer: &str, keyword: &str, reason: &str, effect: Effect) {
        let loss = Loss::new(pointer, keyword, reason, effect);
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    /// The root must be an object itself, so a reference there is followed.
    fn root(&mut self) -> Value {
        let mut at = String::new();
        let mut schema = self.root;
        for _ in 0..8 {
            match normal(self.root, schema, &at).shape {
                Shape::Reference(pointer) => match self.root.pointer(&pointer) {
                    Some(target) => (at, schema) = (pointer, target),
                    None => break,
                },
                _ => break,
            }
        }
        let out = self.schema(schema, &at);
        if out["type"] != "object" {
            self.lose(&at, "type", "the provider wants an object at the root", Effect::OverLimit);
        }
        out
    }

    /// A subschema that stands at `at`.
    pub(super) fn schema(&mut self, schema: &Value, at: &str) -> Value {
        let Normal { shape, dropped, description } = normal(self.root, schema, at);
        for (pointer, keyword) in dropped {
            self.lose(&pointer, &keyword, "not in this provider's language", Effect::Widened);
        }
        if schema.get("default").is_some() {
            self.lose(
                at,
                "default",
                "filled in by the runtime where the field is absent",
                Effect::Untold,
            );
        }
        let mut out = match shape {
            Shape::Anything => self.anything(at),
            Shape::Nothing => json!({"type": "string", "enum": []}),
            Shape::Reference(pointer) => return self.reference(&pointer, at),
            Shape::Members(members) => members_of(&members),
            Shape::Alternatives(branches, keyword) => self.alternatives(&branches, keyword, at),
            Shape::Typed(types, keywords) => self.typed(&types, &keywords, at),
        };
        if let (Some(keywords), Some(words)) = (out.as_object_mut(), description)
            && !keywords.contains_key("$ref")
        {
            keywords.insert("description".to_owned(), Value::from(words));
        }
        out
    }

    fn reference(&mut self, pointer: &str, at: &str) -> Value {
        if !self.vendor.recursion && reaches(self.root, pointer, pointer, &mut Vec::new()) {
            self.lose(
                at,
                "$ref",
                "a definition may not refer to itself here; only plain values can be sent",
                Effect::Narrowed,
            );
            return any_value(&scalars(), !self.vendor.closed_objects);
        }
        let fallback = format!("Definition{}", self.names.len());
        let name = json::split(pointer).last().map(std::borrow::Cow::into_owned);
        let name = name
            .filter(|name| !name.is_empty() && !self.names.values().any(|used| used == name))
            .unwrap_or(fallback);
        if !self.names.contains_key(pointer) {
            self.names.insert(pointer.to_owned(), name.clone());
            self.waiting.push((pointer.to_owned(), name));
        }
        json!({"$ref": format!("#/$defs/{}", self.names[pointer].replace('~', "~0").replace('/', "~1"))})
    }

    /// A value of any kind, as far as it can be said.
    pub(super) fn anything(&mut self, at: &str) -> Value {
        match (self.vendor.closed_objects, self.vendor.recursion) {
            (true, true) => {
                self.lose(
                    at,
                    "type",
                    "any value is allowed, but objects of any shape cannot be said",
                    Effect::Narrowed,
                );
                self.uses_any = true;
                json!({"$ref": format!("#/$defs/{ANY}")})
            }
            (true, false) => {
                self.lose(at, "type", "any value is allowed, but objects of any shape and lists in lists cannot be said", Effect::Narrowed);
                any_value(&scalars(), false)
            }
            (false, _) => {
                self.lose(
                    at,
                    "type",
                    "any value is allowed, but lists in lists cannot be said",
                    Effect::Narrowed,
                );
                let item =
                    json!({"anyOf": [scalars(), {"type": "object", "additionalProperties": true}]});
                any_value(&item, true)
            }
        }
    }

    fn alternatives(&mut self, branches: &[Value], keyword: &str, at: &str) -> Value {
        let pairs = branches
            .iter()
            .enumerate()
            .flat_map(|(index, one)| branches[index + 1..].iter().map(move |two| (one, two)));
        if keyword == "oneOf" && !pairs.into_iter().all(|(one, two)| disjoint(self.root, one, two))
        {
            // Any other rewriting would be wider still.
            self.lose(at, "oneOf", "exactly one may fit; sent as anyOf, and the branches are not proven to exclude each other", Effect::Widened);
        }
        let mut out: Vec<Value> = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let branch = self.schema(branch, &format!("{at}/{keyword}/{index}"));
            if !out.contains(&branch) {
                out.push(branch);
            }
        }
        if out.len() == 1 { out.remove(0) } else { json!({"anyOf": out}) }
    }

    fn typed(&mut self, types: &[String], keywords: &Map<String, Value>, at: &str) -> Value {
        let is_plain = |name: &String| !matches!(name.as_str(), "object" | "array");
        let mut branches = Vec::new();
        let plain: Vec<&String> = types.iter().filter(|name| is_plain(name)).collect();
        if !plain.is_empty() {
            let mut out = Map::new();
            out.insert(
                "type".to_owned(),
                if plain.len() == 1 { json!(plain[0]) } else { json!(plain) },
            );
            let speaks = |names: &[&str]| plain.iter().any(|name| names.contains(&name.as_str()));
            for (keyword, said) in keywords {
                let belongs = match keyword.as_str() {
                    "minLength" | "maxLength" | "pattern" | "format" | "contentEncoding"
                    | "contentMediaType" => speaks(&["string"]),
                    "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
                    | "multipleOf" => speaks(&["number", "integer"]),
                    _ => false,
                };
                if belongs {
                    self.keep(keyword, said, at, &mut out);
                }
            }
            branches.push(Value::Object(out));
        }
        for name in types.iter().filter(|name| !is_plain(name)) {
            branches.push(if name == "object" {
                self.object(keywords, at)
            } else {
                self.array(keywords, at)
            });
        }
        if branches.len() == 1 { branches.remove(0) } else { json!({"anyOf": branches}) }
    }

    /// Sends a keyword as it is, or lists it.
    pub(super) fn keep(
        &mut self,
        keyword: &str,
        said: &Value,
        at: &str,
        out: &mut Map<String, Value>,
    ) {
        if self.vendor.takes(keyword, said) {
            out.insert(keyword.to_owned(), said.clone());
        } else {
            self.lose(at, keyword, "not in this provider's language", Effect::Widened);
        }
    }

    fn limits(&mut self, out: &Value) {
        let mut size = Size::default();
        size.measure(out, 0);
        let limits = &self.vendor.limits;
        let over = [
            (size.properties, limits.properties, "fields in all"),
            (size.depth, limits.depth, "levels of objects and lists"),
            (size.enum_values, limits.enum_values, "listed values"),
        ];
        for (found, limit, what) in over {
            if let Some(limit) = limit.filter(|limit| found > *limit) {
                self.lose(
                    "",
                    "limit",
                    &format!("{found} {what}, and the strictest source allows {limit}"),
                    Effect::OverLimit,
                );
            }
        }
    }
}

/// One of these values.
fn members_of(members: &[Value]) -> Value {
    let mut types: Vec<&str> = Vec::new();
    for member in members {
        let name = match member {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        if !types.contains(&name) {
            types.push(name);
        }
    }
    let types = if types.len() == 1 { json!(types[0]) } else { json!(types) };
    json!({"type": types, "enum": members})
}

fn scalars() -> Value {
    json!({"type": ["string", "number", "boolean", "null"]})
}

fn any_value(item: &Value, open_objects: bool) -> Value {
    let mut kinds = vec![scalars(), json!({"type": "array", "items": item})];
    if open_objects {
        kinds.push(json!({"type": "object", "additionalProperties": true}));
    }
    json!({"anyOf": kinds})
}

/// Whether a definition leads back to itself.
fn reaches(root: &Value, from: &str, goal: &str, seen: &mut Vec<String>) -> bool {
    if seen.iter().any(|one| one == from) {
        return false;
    }
    seen.push(from.to_owned());
    let mut targets = Vec::new();
    root.pointer(from).into_iter().for_each(|schema| references(schema, &mut targets));
    targets.iter().any(|target| {
        target == goal
            || goal.starts_with(&format!("{target}/"))
            || reaches(root, target, goal, seen)
    })
}

fn references(schema: &Value, into: &mut Vec<String>) {
    match schema {
        Value::Object(keywords) => {
            into.extend(
                keywords
                    .get("$ref")
                    .and_then(Value::as_str)
                    .and_then(|name| name.strip_prefix('#'))
                    .map(str::to_owned),
            );
            keywords.values().for_each(|inner| references(inner, into));
        }
        Value::Array(parts) => parts.iter().for_each(|inner| references(inner, into)),
        _ => {}
    }
}

#[derive(Default)]
struct Size {
    properties: usize,
    depth: usize,
    enum_values: usize,
}

impl Size {
    fn measure(&mut self, schema: &Value, depth: usize) {
        match schema {
            Value::Object(keywords) => {
                let deeper =
                    depth + usize::from(schema["type"] == "object" || schema["type"] == "array");
                self.depth = self.depth.max(deeper);
                self.properties += schema["properties"].as_object().map_or(0, Map::len);
                self.enum_values += schema["enum"].as_array().map_or(0, Vec::len);
                keywords.values().for_each(|inner| self.measure(inner, deeper));
            }
            Value::Array(parts) => parts.iter().for_each(|inner| self.measure(inner, depth)),
            _ => {}
        }
    }
}
