//! A schema in the language of one provider.
//!
//! Definitions stay definitions. Every keyword the provider does not take is dropped and listed;
//! what its language forces narrower than the contract is listed as narrowed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::loss::{Effect, Export, Loss};
use super::normal::{Normal, Shape, with_beside};
use super::nullable::{NullPlaces, NullTest};
use super::root::object_root;
use super::size::Size;
use super::unfolding::{BEYOND, Entered, Unfolding};
use super::vendor::Vendor;
use crate::contract::compat::{Branches, exclude_each_other};
use crate::json;

/// The definition that stands for any value, where a definition may refer to itself.
const ANY: &str = "AnyJson";

/// Exports a schema for a vendor.
pub(super) fn export(root: &Value, vendor: &Vendor) -> Export {
    let mut writer = Writer::new(root, vendor);
    let (start, at) = object_root(&mut writer);
    let mut out = writer.schema(&start, &at);
    if out["type"] != "object" {
        writer.lose(&at, "type", "the provider wants an object at the root", Effect::OverLimit);
    }
    let mut definitions = Map::new();
    while let Some((key, name)) = writer.waiting.pop() {
        let (schema, at) = writer.unfolding.begin_definition(&key);
        definitions.insert(name, writer.schema(&schema, &at));
    }
    if writer.uses_any {
        definitions
            .insert(ANY.to_owned(), any_value(&json!({"$ref": format!("#/$defs/{ANY}")}), false));
    }
    if let (Some(keywords), false) = (out.as_object_mut(), definitions.is_empty()) {
        keywords.insert("$defs".to_owned(), Value::Object(definitions));
    }
    writer.limits(&out);
    let places = if vendor.all_required {
        NullPlaces::find(&writer.unfolding.references, &start)
    } else {
        NullPlaces::default()
    };
    let losses = writer.losses;
    Export { schema_or_grammar: out, losses, nullable: places.list(), places }
}

pub(super) struct Writer<'r> {
    pub(super) vendor: &'r Vendor,
    pub(super) unfolding: Unfolding<'r>,
    pub(super) nulls: NullTest,
    losses: Vec<Loss>,
    /// The losses by place, keyword and reason, so that each is listed once.
    listed: BTreeSet<(String, String, String)>,
    /// The names of definitions by their key.
    names: BTreeMap<String, String>,
    used_names: BTreeSet<String>,
    waiting: Vec<(String, String)>,
    uses_any: bool,
}

impl<'r> Writer<'r> {
    fn new(root: &'r Value, vendor: &'r Vendor) -> Self {
        Self {
            vendor,
            unfolding: Unfolding::new(root, vendor.recursion),
            nulls: NullTest::default(),
            losses: Vec::new(),
            listed: BTreeSet::new(),
            names: BTreeMap::new(),
            used_names: BTreeSet::from([ANY.to_owned()]),
            waiting: Vec::new(),
            uses_any: false,
        }
    }

    pub(super) fn lose(&mut self, pointer: &str, keyword: &str, reason: &str, effect: Effect) {
        let key = (pointer.to_owned(), keyword.to_owned(), reason.to_owned());
        if self.listed.insert(key) {
            self.losses.push(Loss::new(pointer, keyword, reason, effect));
        }
    }

    /// A subschema that stands at `at`.
    pub(super) fn schema(&mut self, schema: &Value, at: &str) -> Value {
        let normal = match self.unfolding.enter(schema, at) {
            Entered::Here(normal) => *normal,
            Entered::Definition(key) => return self.reference(&key, at),
            Entered::Recursive(normal) => return self.unrolled(&normal.shape, at),
            Entered::Beyond => {
                self.lose(at, "limit", BEYOND, Effect::Widened);
                return self.anything(at);
            }
        };
        let out = self.write(schema, normal, at);
        self.unfolding.leave();
        out
    }

    fn write(&mut self, schema: &Value, normal: Normal, at: &str) -> Value {
        let Normal { shape, dropped, description, .. } = normal;
        for (pointer, keyword) in dropped {
            let reason = match keyword.as_str() {
                "$ref" => "the reference cannot be followed here",
                "limit" => BEYOND,
                _ => "not in this provider's language",
            };
            self.lose(&pointer, &keyword, reason, Effect::Widened);
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
            Shape::Nothing => self.nothing(at),
            Shape::Reference(pointer) => return self.reference(&pointer, at),
            Shape::Members(members) => self.members(&members, at),
            Shape::Alternatives(branches, keyword, beside) => {
                self.alternatives(&branches, keyword, &beside, at)
            }
            Shape::Typed(types, keywords) => self.typed(&types, &keywords, at),
        };
        if let (Some(keywords), Some(words)) = (out.as_object_mut(), description)
            && !keywords.contains_key("$ref")
        {
            keywords.insert("description".to_owned(), Value::from(words));
        }
        out
    }

    fn reference(&mut self, key: &str, at: &str) -> Value {
        // A reference that leads back to itself says nothing.
        let Some(key) = self.unfolding.settle(key) else { return self.anything(at) };
        let key = key.as_str();
        if !self.vendor.recursion && self.unfolding.is_recursive(key) {
            let shape = self.unfolding.shape_of(key);
            return self.unrolled(&shape, at);
        }
        if !self.names.contains_key(key) {
            let last = json::split(key).last().map(std::borrow::Cow::into_owned);
            let fits = |name: &String| !name.is_empty() && !self.used_names.contains(name);
            let loose = !key.is_empty() && !key.starts_with('/');
            let name = last.filter(|name| !loose && fits(name)).unwrap_or_else(|| {
                (self.names.len()..=usize::MAX)
                    .map(|number| format!("Definition{number}"))
                    .find(fits)
                    .unwrap_or_default()
            });
            self.used_names.insert(name.clone());
            self.names.insert(key.to_owned(), name.clone());
            self.waiting.push((key.to_owned(), name));
        }
        let name = self.names[key].replace('~', "~0").replace('/', "~1");
        json!({"$ref": format!("#/$defs/{name}")})
    }

    /// What a definition that leads back to itself becomes where definitions may not: a value of
    /// its types, without its inside.
    fn unrolled(&mut self, shape: &Shape, at: &str) -> Value {
        let types = self.unfolding.types_of(shape);
        let mut kinds = Vec::new();
        let plain: Vec<&str> =
            types.iter().copied().filter(|name| !matches!(*name, "object" | "array")).collect();
        if !plain.is_empty() {
            kinds.push(json!({"type": one_or_many(&plain)}));
        }
        let open = json!({"type": "object", "additionalProperties": true});
        let mut lose = |reason: &str, effect| self.lose(at, "$ref", reason, effect);
        if types.contains(&"array") {
            let reason = "a definition may not refer to itself here; lists in lists cannot be sent";
            lose(reason, Effect::Narrowed);
            let item = if self.vendor.closed_objects {
                scalars()
            } else {
                json!({"anyOf": [scalars(), open]})
            };
            kinds.push(json!({"type": "array", "items": item}));
        }
        if types.contains(&"object") && self.vendor.closed_objects {
            let reason =
                "a definition may not refer to itself here; only an empty object can be sent";
            self.lose(at, "$ref", reason, Effect::Narrowed);
            kinds.push(json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}));
        } else if types.contains(&"object") {
            let reason = "a definition may not refer to itself here; any object is let through";
            self.lose(at, "$ref", reason, Effect::Widened);
            kinds.push(open);
        }
        if kinds.len() == 1 { kinds.remove(0) } else { json!({"anyOf": kinds}) }
    }

    /// No value fits; a provider's language has no word for that.
    pub(super) fn nothing(&mut self, at: &str) -> Value {
        self.lose(at, "not", "no value fits here; null is sent in its place", Effect::Widened);
        json!({"type": "null"})
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

    fn alternatives(
        &mut self,
        branches: &[Value],
        keyword: &str,
        beside: &Map<String, Value>,
        at: &str,
    ) -> Value {
        let checked =
            Branches { references: &self.unfolding.references, alternatives: branches, beside };
        if keyword == "oneOf" && !exclude_each_other(&checked) {
            // Any other rewriting would be wider still.
            self.lose(at, "oneOf", "exactly one may fit; sent as anyOf, and the branches are not proven to exclude each other", Effect::Widened);
        }
        let mut out: Vec<Value> = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, branch) in branches.iter().enumerate() {
            let at = format!("{at}/{keyword}/{index}");
            if self.unfolding.is_exhausted() {
                self.lose(&at, "limit", BEYOND, Effect::Widened);
                out.push(self.anything(&at));
                break;
            }
            let branch = with_beside(beside, branch);
            if matches!(self.unfolding.normal(&branch, &at).shape, Shape::Nothing) {
                continue;
            }
            let branch = self.schema(&branch, &at);
            if seen.insert(branch.to_string()) {
                out.push(branch);
            }
        }
        match out.len() {
            0 => self.nothing(at),
            1 => out.remove(0),
            _ => json!({"anyOf": out}),
        }
    }

    fn typed(&mut self, types: &[String], keywords: &Map<String, Value>, at: &str) -> Value {
        let is_plain = |name: &String| !matches!(name.as_str(), "object" | "array");
        let mut branches = Vec::new();
        let plain: Vec<&str> =
            types.iter().filter(|name| is_plain(name)).map(String::as_str).collect();
        if !plain.is_empty() {
            let mut out = Map::new();
            out.insert("type".to_owned(), one_or_many(&plain));
            let speaks = |names: &[&str]| plain.iter().any(|name| names.contains(name));
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
        let size = Size::of(out);
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

/// One name, or a list of several.
pub(super) fn one_or_many(names: &[&str]) -> Value {
    if names.len() == 1 { json!(names[0]) } else { json!(names) }
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
