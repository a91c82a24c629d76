//! Compares two schemas keyword by keyword.

use std::collections::BTreeSet;

use countersign_contract::json;
use serde_json::{Map, Value};

use super::contract_change::{ContractChange, ContractChangeKind};

/// Keywords for which a larger number allows less.
const LOWER_BOUND_KEYWORDS: [&str; 6] =
    ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"];
/// Keywords for which a smaller number allows less.
const UPPER_BOUND_KEYWORDS: [&str; 5] =
    ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Keywords that are compared by their own code, or by their content.
const HANDLED_KEYWORDS: [&str; 13] = [
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "type",
    "default",
    "additionalProperties",
    "$ref",
    "$defs",
    "definitions",
    "$schema",
    "$id",
];
/// The depth beyond which changes are not listed.
const MAX_DIFF_DEPTH: usize = 24;
/// The maximum number of subschemas that are compared.
const MAX_COMPARED_SUBSCHEMAS: usize = 20_000;
/// The maximum size of all listed changes in bytes.
const MAX_CHANGE_BYTES: usize = 256 * 1024;

/// Walks both schemas in parallel.
pub(super) struct SchemaDiffWalker<'s> {
    old: &'s Value,
    new: &'s Value,
    changes: Vec<ContractChange>,
    /// The pairs of references on the current path, so that recursion ends.
    open_references: Vec<(String, String)>,
    /// The number of subschemas that may still be compared.
    subschemas_left: usize,
    /// The number of bytes that may still be listed.
    bytes_left: usize,
}

impl<'s> SchemaDiffWalker<'s> {
    /// Returns every change of the schema.
    pub(super) fn diff_schemas(old: &'s Value, new: &'s Value) -> Vec<ContractChange> {
        let (left, room) = (MAX_COMPARED_SUBSCHEMAS, MAX_CHANGE_BYTES);
        let mut walk = SchemaDiffWalker {
            old,
            new,
            changes: Vec::new(),
            open_references: Vec::new(),
            subschemas_left: left,
            bytes_left: room,
        };
        walk.compare_subschemas(old, new, "", 0);
        if walk.subschemas_left == 0 || walk.bytes_left == 0 {
            let says = "further changes are not listed".to_owned();
            let kind = ContractChangeKind::KeywordChanged;
            walk.changes.push(ContractChange { pointer: String::new(), kind, message: says });
        }
        walk.changes
    }

    fn push_change(&mut self, pointer: &str, kind: ContractChangeKind, says: impl Into<String>) {
        let says = says.into();
        self.bytes_left = self.bytes_left.saturating_sub(pointer.len() + says.len() + 1);
        if self.bytes_left > 0 {
            self.changes.push(ContractChange { pointer: pointer.to_owned(), kind, message: says });
        }
    }

    fn compare_subschemas(&mut self, old: &'s Value, new: &'s Value, at: &str, depth: usize) {
        let reference = |schema: &Value| {
            schema.get("$ref").and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let pair = (reference(old), reference(new));
        if self.subschemas_left == 0 || self.bytes_left == 0 {
            return;
        }
        self.subschemas_left -= 1;
        if depth > MAX_DIFF_DEPTH
            || (pair != (String::new(), String::new()) && self.open_references.contains(&pair))
        {
            return;
        }
        let (old, new) = (resolve_reference(self.old, old), resolve_reference(self.new, new));
        let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else {
            if old != new {
                self.push_change(
                    at,
                    ContractChangeKind::KeywordChanged,
                    format!("{old} became {new}"),
                );
            }
            return;
        };
        self.open_references.push(pair);
        self.compare_values(before, after, at);
        self.compare_fields(before, after, at, depth);
        self.compare_additional_properties(before, after, at, depth);
        if let (Some(old), Some(new)) = (before.get("items"), after.get("items")) {
            self.compare_subschemas(old, new, &format!("{at}/*"), depth + 1);
        } else if before.get("items") != after.get("items") {
            self.push_change(
                at,
                ContractChangeKind::KeywordChanged,
                "the schema of the items was changed",
            );
        }
        self.compare_other_keywords(before, after, at);
        self.open_references.pop();
    }

    fn compare_values(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, at: &str) {
        let types =
            |schema: &Map<String, Value>| schema.get("type").cloned().unwrap_or(Value::from("any"));
        if types(old) != types(new) {
            self.push_change(
                at,
                ContractChangeKind::TypeChanged,
                format!("type {} became {}", types(old), types(new)),
            );
        }
        match (list_enum_members(old), list_enum_members(new)) {
            (Some(before), Some(after)) => {
                for gone in before.difference(&after) {
                    let says = format!("{gone} is no longer allowed");
                    self.push_change(at, ContractChangeKind::MemberRemoved, says);
                }
                for come in after.difference(&before) {
                    self.push_change(
                        at,
                        ContractChangeKind::MemberAdded,
                        format!("{come} is allowed"),
                    );
                }
            }
            (None, Some(_)) => {
                self.push_change(
                    at,
                    ContractChangeKind::Tightened,
                    "only listed values are allowed",
                );
            }
            (Some(_), None) => {
                self.push_change(
                    at,
                    ContractChangeKind::Loosened,
                    "values beyond the listed ones are allowed",
                );
            }
            (None, None) => {}
        }
        if old.get("default") != new.get("default") {
            let shown = |schema: &Map<String, Value>| {
                schema.get("default").map_or("none".to_owned(), Value::to_string)
            };
            self.push_change(
                at,
                ContractChangeKind::DefaultChanged,
                format!("default {} became {}", shown(old), shown(new)),
            );
        }
    }

    fn compare_fields(
        &mut self,
        old: &'s Map<String, Value>,
        new: &'s Map<String, Value>,
        at: &str,
        depth: usize,
    ) {
        let nothing: &'s Map<String, Value> = NO_PROPERTIES.get_or_init(Map::new);
        let declared = |schema: &'s Map<String, Value>| {
            schema.get("properties").and_then(Value::as_object).unwrap_or(nothing)
        };
        let required = |schema: &'s Map<String, Value>| -> BTreeSet<&'s str> {
            let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).collect()
        };
        let (was, now) = (required(old), required(new));
        let (before, after) = (declared(old), declared(new));
        for (name, schema) in before {
            let inside = json::child_pointer(at, name);
            match after.get(name) {
                Some(other) => self.compare_subschemas(schema, other, &inside, depth + 1),
                None => self.push_change(
                    &inside,
                    ContractChangeKind::FieldRemoved,
                    format!("field `{name}` is no longer declared"),
                ),
            }
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            let how = if now.contains(name.as_str()) { "required" } else { "optional" };
            self.push_change(
                &json::child_pointer(at, name),
                ContractChangeKind::FieldAdded,
                format!("{how} field `{name}` was added"),
            );
        }
        let known = |name: &str| before.contains_key(name) == after.contains_key(name);
        for name in now.difference(&was).filter(|name| known(name)) {
            self.push_change(
                &json::child_pointer(at, name),
                ContractChangeKind::BecameRequired,
                format!("field `{name}` became required"),
            );
        }
        for name in was.difference(&now).filter(|name| known(name)) {
            self.push_change(
                &json::child_pointer(at, name),
                ContractChangeKind::BecameOptional,
                format!("field `{name}` became optional"),
            );
        }
    }

    fn compare_additional_properties(
        &mut self,
        old: &'s Map<String, Value>,
        new: &'s Map<String, Value>,
        at: &str,
        depth: usize,
    ) {
        let closed = |said: Option<&Value>| said == Some(&Value::Bool(false));
        match (old.get("additionalProperties"), new.get("additionalProperties")) {
            (before, after) if before == after => {}
            (before, after) if closed(after) && !closed(before) => {
                self.push_change(
                    at,
                    ContractChangeKind::Tightened,
                    "undeclared fields are no longer allowed",
                );
            }
            (before, after) if closed(before) && !closed(after) => {
                self.push_change(at, ContractChangeKind::Loosened, "undeclared fields are allowed");
            }
            (Some(before @ Value::Object(_)), Some(after @ Value::Object(_))) => {
                self.compare_subschemas(before, after, &format!("{at}/*"), depth + 1);
            }
            (None | Some(Value::Bool(true)), None | Some(Value::Bool(true))) => {}
            _ => self.push_change(
                at,
                ContractChangeKind::KeywordChanged,
                "the schema of undeclared fields was changed",
            ),
        }
    }

    fn compare_other_keywords(
        &mut self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        at: &str,
    ) {
        let keywords: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for keyword in
            keywords.into_iter().filter(|keyword| !HANDLED_KEYWORDS.contains(&keyword.as_str()))
        {
            let (before, after) = (old.get(keyword), new.get(keyword));
            if before == after {
                continue;
            }
            let shown = |said: Option<&Value>| said.map_or("none".to_owned(), Value::to_string);
            let says = if before.is_none_or(is_scalar) && after.is_none_or(is_scalar) {
                format!("{keyword} {} became {}", shown(before), shown(after))
            } else {
                format!("{keyword} was changed")
            };
            self.push_change(at, classify_change(keyword, before, after), says);
        }
    }
}

static NO_PROPERTIES: std::sync::OnceLock<Map<String, Value>> = std::sync::OnceLock::new();

fn is_scalar(said: &Value) -> bool {
    !said.is_object() && !said.is_array()
}

fn classify_change(keyword: &str, old: Option<&Value>, new: Option<&Value>) -> ContractChangeKind {
    let number = |said: Option<&Value>| said.and_then(Value::as_f64);
    let grew = match (number(old), number(new)) {
        (Some(old), Some(new)) => Some(new > old),
        _ => None,
    };
    let floor = LOWER_BOUND_KEYWORDS.contains(&keyword);
    match (old, new) {
        _ if grew.is_some() && (floor || UPPER_BOUND_KEYWORDS.contains(&keyword)) => {
            if grew == Some(floor) {
                ContractChangeKind::Tightened
            } else {
                ContractChangeKind::Loosened
            }
        }
        (None, Some(_)) => ContractChangeKind::Tightened,
        (Some(_), None) => ContractChangeKind::Loosened,
        _ => ContractChangeKind::KeywordChanged,
    }
}

/// Returns the members of `enum` or `const` as JSON texts.
fn list_enum_members(schema: &Map<String, Value>) -> Option<BTreeSet<String>> {
    match schema.get("const") {
        Some(value) => Some(BTreeSet::from([value.to_string()])),
        None => Some(schema.get("enum")?.as_array()?.iter().map(Value::to_string).collect()),
    }
}

/// Follows references that have no other keywords beside them.
fn resolve_reference<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    for _ in 0..MAX_DIFF_DEPTH {
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'));
        match target.and_then(|target| root.pointer(target)) {
            Some(referred) if is_bare_reference(schema) => schema = referred,
            _ => break,
        }
    }
    schema
}

/// Returns whether a reference has no keywords beside it except definitions and identifiers.
fn is_bare_reference(schema: &Value) -> bool {
    let beside = schema.as_object().into_iter().flat_map(Map::keys);
    beside.into_iter().all(|keyword| {
        matches!(keyword.as_str(), "$ref" | "$defs" | "definitions" | "$schema" | "$id")
    })
}
