//! Expresses declared defaults in the schema itself, as far as they affect what a contract accepts.
//!
//! A contract accepts a value if the schema accepts it with the defaults filled in, so a required
//! field with a valid default may be absent. This module rewrites the schema accordingly where that
//! is exact.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::contract::ReferenceResolver;
use countersign_contract::contract::{ContractRule, Schema};
use countersign_contract::json;
use countersign_contract::limits;
use serde_json::{Value, json};

use crate::WorkBudget;
use crate::sample::to_standalone_schema;
use crate::work_budget::count_values;

/// Returns the defaults of a schema by the pointer they fill, with `*` for every item; `None` if
/// there are too many pointers.
pub(super) fn collect_defaults(
    schema: &Value,
    budget: &WorkBudget<'_>,
) -> Option<BTreeMap<String, Value>> {
    let references = ReferenceResolver::new(schema);
    let mut walk = DefaultCollector {
        references: &references,
        open_references: Vec::new(),
        defaults: BTreeMap::new(),
        budget,
    };
    walk.visit(schema, "").then_some(walk.defaults)
}

struct DefaultCollector<'a> {
    references: &'a ReferenceResolver<'a>,
    /// The references on the current path, with the pointer at which each began.
    open_references: Vec<(String, String)>,
    defaults: BTreeMap<String, Value>,
    budget: &'a WorkBudget<'a>,
}

impl DefaultCollector<'_> {
    fn visit(&mut self, schema: &Value, at: &str) -> bool {
        if !self.budget.spend(1 + at.len() as u64) || self.open_references.len() > limits::MAX_DEPTH
        {
            return false;
        }
        if let Some((target, referred)) = self.references.resolve_in(schema) {
            match self.open_references.iter().find(|(seen, _)| *seen == target) {
                // The structure repeats: the pointer at which it began determines everything that
                // follows.
                Some((_, before)) => {
                    self.defaults.insert(format!("{at} again"), json!(before));
                }
                None => {
                    self.open_references.push((target, at.to_owned()));
                    let whole = self.visit(referred, at);
                    self.open_references.pop();
                    if !whole {
                        return false;
                    }
                }
            }
        }
        let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let items = schema.get("items").filter(|items| items.is_object());
        parts.into_iter().all(|part| self.visit(part, at))
            && fields.into_iter().all(|(name, field)| {
                let inside = json::child_pointer(at, name);
                if let Some(default) = field.get("default") {
                    if !self.budget.spend(count_values(default) as u64) {
                        return false;
                    }
                    self.defaults.insert(inside.clone(), default.clone());
                }
                self.visit(field, &inside)
            })
            && items.is_none_or(|items| self.visit(items, &format!("{at}/*")))
    }
}

/// Returns a schema that accepts, without filling in defaults, what this one accepts with its
/// defaults filled in; `None` if it cannot be expressed exactly.
pub(super) fn rewrite_without_defaults(schema: &Value, budget: &WorkBudget<'_>) -> Option<Value> {
    let mut names = BTreeSet::new();
    collect_defaulted_names(schema, &mut names);
    if names.is_empty() {
        return Some(schema.clone());
    }
    let mut rewritten = schema.clone();
    let quoted = names.iter().map(|name| json!(name).to_string()).collect();
    let rewriting = DefaultRewriter { root: schema, names, quoted_names: quoted, budget };
    rewriting.rewrite(&mut rewritten).then_some(rewritten)
}

fn collect_defaulted_names(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(keywords) => {
            for (name, field) in
                keywords.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                if field.get("default").is_some() {
                    names.insert(name.clone());
                }
            }
            keywords.values().for_each(|inner| collect_defaulted_names(inner, names));
        }
        Value::Array(parts) => parts.iter().for_each(|inner| collect_defaulted_names(inner, names)),
        _ => {}
    }
}

/// Keywords for which a filled-in field could matter, or below which no defaults are filled in.
const UNREWRITABLE_KEYWORDS: [&str; 15] = [
    "if",
    "then",
    "else",
    "not",
    "anyOf",
    "oneOf",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "unevaluatedProperties",
    "contains",
    "prefixItems",
];

struct DefaultRewriter<'a> {
    root: &'a Value,
    /// The names of all fields that have a default anywhere.
    names: BTreeSet<String>,
    quoted_names: Vec<String>,
    budget: &'a WorkBudget<'a>,
}

impl DefaultRewriter<'_> {
    /// Removes fields with a default from `required`; returns false if the result would not be
    /// exact.
    fn rewrite(&self, schema: &mut Value) -> bool {
        let Some(keywords) = schema.as_object_mut() else { return true };
        for (keyword, said) in keywords.iter() {
            let delicate = UNREWRITABLE_KEYWORDS.contains(&keyword.as_str());
            // No defaults are filled in below these keywords, even in a definition that is filled
            // elsewhere.
            let unfilled =
                keyword == "additionalProperties" || (keyword == "items" && said.is_array());
            if !delicate && !unfilled {
                continue;
            }
            let said = said.to_string();
            let cost = said.len() / 16 * (1 + if delicate { self.quoted_names.len() } else { 0 });
            if !self.budget.spend(1 + cost as u64) {
                return false;
            }
            let refers = said.contains("\"$ref\"");
            let mentions = || refers || self.quoted_names.iter().any(|name| said.contains(name));
            if delicate && (keyword.ends_with("Properties") || mentions())
                || unfilled && (refers || said.contains("\"default\""))
            {
                return false;
            }
        }
        let good: Option<BTreeSet<String>> = keywords
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter(|(_, field)| field.get("default").is_some())
            .map(|(name, field)| self.is_default_valid(field).then(|| name.clone()))
            .collect();
        let Some(good) = good else { return false };
        if let Some(required) = keywords.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| !name.as_str().is_some_and(|name| good.contains(name)));
            // The field is required here and has a default elsewhere; whether both apply to the
            // same object is unknown at this point.
            let mut names = required.iter().filter_map(Value::as_str);
            if names.any(|name| self.names.contains(name)) {
                return false;
            }
        }
        keywords.iter_mut().all(|(keyword, said)| match keyword.as_str() {
            "properties" | "$defs" | "definitions" => said
                .as_object_mut()
                .is_none_or(|fields| fields.values_mut().all(|field| self.rewrite(field))),
            "allOf" => said
                .as_array_mut()
                .is_none_or(|parts| parts.iter_mut().all(|part| self.rewrite(part))),
            "items" => self.rewrite(said),
            _ => true,
        })
    }

    /// Returns whether the default of a field is valid in its own schema.
    fn is_default_valid(&self, field: &Value) -> bool {
        let refers = field.to_string().contains("\"$ref\"");
        let whole = if refers { to_standalone_schema(self.root, field) } else { field.clone() };
        // Compiling costs far more than copying.
        if !self.budget.spend(100 * count_values(&whole) as u64) {
            return false;
        }
        let Ok(schema) = Schema::compile(whole) else { return false };
        let mut value = field["default"].clone();
        schema.fill_defaults(&mut value);
        schema.is_valid(&value)
    }
}

/// Returns whether a rule could observe that a default is filled in at a pointer, or its value.
pub(super) fn may_rule_read(rule: &ContractRule, location: &str, default: &Value) -> bool {
    let name = json::split_pointer(location).last().unwrap_or_default().into_owned();
    let reads =
        |source: &str| source.contains(&name) || source.contains("Object.") || source.contains('[');
    let when = rule.when.as_ref().is_some_and(|when| reads(when.source()));
    if when || reads(rule.then.source()) || name.contains(' ') {
        return true;
    }
    let mut visited = false;
    if let Some(each) = &rule.each {
        each.for_each_match(&wrap_at_pointer(location, default), &mut |pointer, _| {
            visited |= pointer.to_string().starts_with(&location.replace("/*", "/0"));
        });
    }
    visited
}

/// Returns the smallest value that has this value at this pointer.
fn wrap_at_pointer(pointer: &str, value: &Value) -> Value {
    let segments: Vec<_> = json::split_pointer(pointer).collect();
    segments.iter().rev().fold(value.clone(), |inside, segment| match segment.as_ref() {
        "*" => json!([inside]),
        name => json!({name: inside}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "a line a case reads better without ampersands"
    )]
    #[track_caller]
    fn check(schema: Value, expected: Option<Value>) {
        assert_eq!(rewrite_without_defaults(&schema, &WorkBudget::default()), expected, "{schema}");
    }

    #[test]
    fn a_good_default_makes_a_field_optional() {
        let field = json!({"type": "string", "default": "x"});
        check(
            json!({"required": ["a", "b"], "properties": {"a": field, "b": {}}}),
            Some(json!({"required": ["b"], "properties": {"a": field, "b": {}}})),
        );
        check(json!({"required": ["a"]}), Some(json!({"required": ["a"]})));
    }

    #[test]
    fn what_is_not_exact_is_not_written() {
        let field = json!({"type": "string", "default": "x"});
        let with = |more: Value| {
            let mut schema = json!({"properties": {"a": field}});
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            schema
        };
        check(with(json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}})), None);
        check(with(json!({"minProperties": 1})), None);
        check(with(json!({"allOf": [{"required": ["a"]}]})), None);
        // A shared definition may be filled in at one pointer and not at another.
        check(with(json!({"additionalProperties": {"$ref": "#/$defs/d"}})), None);
        check(
            json!({"required": ["a"], "properties": {"a": {"type": "integer", "default": "x"}}}),
            None,
        );
    }

    #[test]
    fn places_are_found_through_references_and_lists() {
        let schema = json!({"properties": {"l": {"items": {"$ref": "#/$defs/n"}}}, "$defs": {"n": {"properties": {"k": {"default": 1}, "next": {"$ref": "#/$defs/n"}}}}});
        let found: Vec<String> = collect_defaults(&schema, &WorkBudget::default())
            .unwrap()
            .into_iter()
            .map(|(pointer, value)| format!("{pointer}={value}"))
            .collect();
        assert_eq!(found, ["/l/*/k=1", "/l/*/next again=\"/l/*\""]);
    }
}
