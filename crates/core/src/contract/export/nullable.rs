//! Absent fields where every field must be there: null stands for absence.

use serde_json::Value;

use crate::contract::Schema;
use crate::contract::sample::standing_alone;
use crate::json;

/// A recursive place is followed this often.
const ROUNDS: usize = 4;

/// Whether the contract takes a value without this field.
pub(super) fn may_be_absent(
    object: &serde_json::Map<String, Value>,
    name: &str,
    field: &Value,
) -> bool {
    let required = object
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|one| one == name));
    !required || field.get("default").is_some()
}

/// Whether null is a value of the field already.
pub(super) fn takes_null(root: &Value, field: &Value) -> bool {
    Schema::compile(standing_alone(root, field)).is_ok_and(|schema| schema.is_valid(&Value::Null))
}

/// Every place where null may stand for absence.
pub(super) fn places(root: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(root, root, "", &mut Vec::new(), &mut found);
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|place| seen.insert(place.clone()));
    found
}

fn walk(root: &Value, schema: &Value, at: &str, passed: &mut Vec<String>, found: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else { return };
    if let Some(target) =
        keywords.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'))
    {
        let rounds = passed.iter().filter(|seen| *seen == target).count();
        if let Some(referred) = root.pointer(target).filter(|_| rounds < ROUNDS) {
            passed.push(target.to_owned());
            walk(root, referred, at, passed, found);
            passed.pop();
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for part in keywords.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            walk(root, part, at, passed, found);
        }
    }
    for (name, field) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let inside = json::child(at, name);
        if may_be_absent(keywords, name, field) && !takes_null(root, field) {
            found.push(inside.clone());
        }
        walk(root, field, &inside, passed, found);
    }
    let listed = keywords.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
    for items in keywords.get("items").into_iter().chain(listed) {
        walk(root, items, &format!("{at}/*"), passed, found);
    }
}

/// Drops the nulls at these places, inner ones first.
pub(super) fn drop(places: &[String], value: &mut Value) {
    for place in places.iter().rev() {
        let segments: Vec<_> = json::split(place).collect();
        drop_at(&segments, value);
    }
}

fn drop_at(segments: &[std::borrow::Cow<'_, str>], value: &mut Value) {
    let Some((first, rest)) = segments.split_first() else { return };
    match value {
        Value::Object(members) => {
            if rest.is_empty() && members.get(first.as_ref()).is_some_and(Value::is_null) {
                members.shift_remove(first.as_ref());
            } else if let Some(member) = members.get_mut(first.as_ref()) {
                drop_at(rest, member);
            }
        }
        Value::Array(items) if first == "*" => {
            for item in items {
                drop_at(rest, item);
            }
        }
        _ => {}
    }
}
