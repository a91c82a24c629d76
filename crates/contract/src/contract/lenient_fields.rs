//! Leaves out of a reply what a contract says it may contain and does not mean: fields that the
//! schema does not know, and optional fields that hold nothing. Each is recorded as a repair.

use serde_json::Value;

use super::reference_resolver::ReferenceResolver;
use super::schema::Schema;
use crate::json::{self, RepairKind};
use crate::reply::ViolationCode;

/// How often the schema is asked for more unknown fields. Each pass finds as many as a list of
/// violations holds; a reply with more fields than that is refused.
const MAX_PASSES: usize = 8;

/// How many references in a row are followed to find the schema of a field.
const MAX_REFERENCES: usize = 48;

/// What happens to a reply with a field that the schema forbids as unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ExtraFieldPolicy {
    /// The reply is refused. The default.
    #[default]
    Refuse,
    /// The field is left out of the value, and recorded.
    Report,
}

/// What happens to an optional field that holds nothing: null, blank text, an empty list, or an
/// object of such fields beside choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum EmptyFieldPolicy {
    /// It stays in the value. The default.
    #[default]
    Keep,
    /// It is left out of the value, and recorded.
    Omit,
}

impl ExtraFieldPolicy {
    /// Parses the name that contract files use, or returns `None` for another name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Refuse, Self::Report].into_iter().find(|policy| policy.as_str() == name)
    }

    /// Returns the name that contract files use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Report => "report",
        }
    }
}

impl EmptyFieldPolicy {
    /// Parses the name that contract files use, or returns `None` for another name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Keep, Self::Omit].into_iter().find(|policy| policy.as_str() == name)
    }

    /// Returns the name that contract files use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Omit => "omit",
        }
    }
}

/// Leaves out what the policies say, and returns each field with the repair that it is.
pub(crate) fn leave_out_fields(
    value: &mut Value,
    schema: &Schema,
    extra: ExtraFieldPolicy,
    empty: EmptyFieldPolicy,
) -> Vec<(RepairKind, String)> {
    let mut left_out = Vec::new();
    if extra == ExtraFieldPolicy::Report {
        let removed = remove_extra_fields(value, schema);
        left_out.extend(removed.into_iter().map(|pointer| (RepairKind::ExtraField, pointer)));
    }
    if empty == EmptyFieldPolicy::Omit {
        let resolver = ReferenceResolver::new(schema.source());
        let mut removed = Vec::new();
        remove_empty_fields(value, schema.source(), &resolver, &mut String::new(), &mut removed);
        left_out.extend(removed.into_iter().map(|pointer| (RepairKind::EmptyField, pointer)));
    }
    left_out
}

/// Removes every field that the schema forbids as unknown, and returns their pointers.
fn remove_extra_fields(value: &mut Value, schema: &Schema) -> Vec<String> {
    let mut removed = Vec::new();
    for _ in 0..MAX_PASSES {
        let violations = schema.list_violations(value);
        let unknown = violations.into_iter().filter(|one| one.code == ViolationCode::UnknownField);
        let before = removed.len();
        for pointer in unknown.map(|one| one.pointer) {
            if remove_member(value, &pointer) {
                removed.push(pointer);
            }
        }
        if removed.len() == before {
            break;
        }
    }
    removed
}

/// Removes the member of an object at a pointer; returns whether there was one.
fn remove_member(value: &mut Value, pointer: &str) -> bool {
    let Some(parent) = json::parent_pointer(pointer) else { return false };
    let Some(name) = json::split_pointer(&pointer[parent.len()..]).next() else { return false };
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.is_some_and(|members| members.remove(name.as_ref()).is_some())
}

/// How much a value holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// It holds nothing at all.
    Blank,
    /// It holds a choice from a list, which says nothing by itself.
    Choice,
    /// It holds something that counts.
    Full,
}

/// Removes the optional fields inside a value that hold nothing; each value is visited once.
fn remove_empty_fields(
    value: &mut Value,
    schema: &Value,
    resolver: &ReferenceResolver<'_>,
    pointer: &mut String,
    removed: &mut Vec<String>,
) -> Content {
    let schema = follow_references(schema, resolver);
    let length = pointer.len();
    match value {
        Value::Null => Content::Blank,
        Value::String(text) if text.trim().is_empty() => Content::Blank,
        Value::String(_) if schema.get("enum").is_some() || schema.get("const").is_some() => {
            Content::Choice
        }
        Value::String(_) | Value::Bool(_) | Value::Number(_) => Content::Full,
        Value::Array(items) => {
            let item_schema = schema.get("items").unwrap_or(&Value::Null);
            let mut content = Content::Blank;
            for (index, item) in items.iter_mut().enumerate() {
                json::push_segment(pointer, &index.to_string());
                let inside = remove_empty_fields(item, item_schema, resolver, pointer, removed);
                pointer.truncate(length);
                content = merge_content(content, inside);
            }
            content
        }
        Value::Object(members) => {
            let is_required = |name: &str| {
                let required = schema.get("required").and_then(Value::as_array);
                required.is_some_and(|names| names.iter().any(|one| one == name))
            };
            let mut content = Content::Blank;
            let mut blank = false;
            members.retain(|name, member| {
                let known = schema.get("properties").and_then(|fields| fields.get(name));
                let before = removed.len();
                json::push_segment(pointer, name);
                let field = known.unwrap_or(&Value::Null);
                let inside = remove_empty_fields(member, field, resolver, pointer, removed);
                let leaves = inside == Content::Blank && known.is_some() && !is_required(name);
                if leaves {
                    removed.truncate(before);
                    removed.push(pointer.clone());
                }
                pointer.truncate(length);
                blank |= inside == Content::Blank;
                content = merge_content(content, inside);
                !leaves
            });
            if blank && content == Content::Choice { Content::Blank } else { content }
        }
    }
}

/// Adds the content of one more part to that of the parts before it.
fn merge_content(before: Content, part: Content) -> Content {
    match (before, part) {
        (Content::Full, _) | (_, Content::Full) => Content::Full,
        (Content::Choice, _) | (_, Content::Choice) => Content::Choice,
        (Content::Blank, Content::Blank) => Content::Blank,
    }
}

fn follow_references<'s>(mut schema: &'s Value, resolver: &ReferenceResolver<'s>) -> &'s Value {
    for _ in 0..MAX_REFERENCES {
        match resolver.resolve_in(schema) {
            Some((_, target)) => schema = target,
            None => break,
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_unknown_field_is_removed_and_named() {
        let schema = Schema::compile(json!({
            "type": "object", "additionalProperties": false,
            "properties": {
                "a": { "type": "array", "items": {
                    "type": "object", "additionalProperties": false, "properties": { "b": true },
                } },
            },
        }))
        .unwrap();
        let mut value = json!({ "a": [{ "b": 1, "c": 2 }, { "x/y": {} }], "~": 3 });
        let mut removed = remove_extra_fields(&mut value, &schema);
        removed.sort();
        assert_eq!(removed, ["/a/0/c", "/a/1/x~1y", "/~0"]);
        assert_eq!(value, json!({ "a": [{ "b": 1 }, {}] }));
    }

    #[test]
    fn many_fields_are_removed_and_too_many_are_left() {
        let schema = Schema::compile(json!({ "additionalProperties": false })).unwrap();
        let object = |count: usize| {
            Value::Object((0..count).map(|index| (format!("k{index}"), json!(1))).collect())
        };
        let mut some = object(250);
        assert_eq!(remove_extra_fields(&mut some, &schema).len(), 250);
        assert_eq!(some, json!({}));
        let mut many = object(10_000);
        assert!(remove_extra_fields(&mut many, &schema).len() <= 800);
        assert_ne!(many, json!({}));
    }

    #[test]
    fn optional_fields_that_hold_nothing_are_removed() {
        let schema = Schema::compile(json!({
            "required": ["kind", "title"],
            "properties": {
                "kind": { "enum": ["a", "b"] },
                "title": { "type": "string" },
                "note": { "type": "string" },
                "work": { "$ref": "#/$defs/Work" },
                "mode": { "properties": { "speed": { "enum": ["fast"] } } },
                "count": { "type": "integer" },
            },
            "$defs": { "Work": {
                "required": ["name", "format"],
                "properties": {
                    "name": { "type": "string" },
                    "format": { "enum": ["md", "txt"] },
                    "hint": { "type": "string" },
                    "docs": { "items": { "properties": { "name": { "type": "string" } } } },
                },
            } },
        }))
        .unwrap();
        for (value, expected, left_out) in [
            (
                json!({ "kind": "a", "title": "", "note": " ", "work": null, "other": null }),
                json!({ "kind": "a", "title": "", "other": null }),
                vec!["/note", "/work"],
            ),
            (
                json!({ "kind": "a", "work": { "name": "", "format": "md", "docs": [{ "name": "" }] } }),
                json!({ "kind": "a" }),
                vec!["/work"],
            ),
            (
                json!({ "work": { "name": "x", "format": "md", "hint": null, "docs": [] } }),
                json!({ "work": { "name": "x", "format": "md" } }),
                vec!["/work/docs", "/work/hint"],
            ),
            // What says something stays: a choice alone, a number, a truth value.
            (
                json!({ "mode": { "speed": "fast" } }),
                json!({ "mode": { "speed": "fast" } }),
                vec![],
            ),
            (json!({ "count": 0 }), json!({ "count": 0 }), vec![]),
        ] {
            let mut tidied = value.clone();
            let (extra, empty) = (ExtraFieldPolicy::Refuse, EmptyFieldPolicy::Omit);
            let found = leave_out_fields(&mut tidied, &schema, extra, empty);
            let mut pointers: Vec<_> = found.iter().map(|(_, pointer)| pointer.as_str()).collect();
            pointers.sort_unstable();
            assert_eq!(pointers, left_out, "{value}");
            assert_eq!(tidied, expected, "{value}");
        }
    }
}
