//! Two schemas walked side by side, keyword by keyword.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::change::{Change, ChangeKind};
use crate::json;

/// Larger numbers allow less.
const FLOORS: [&str; 6] =
    ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"];
/// Smaller numbers allow less.
const CEILINGS: [&str; 5] =
    ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Told by their own words below, or by what they hold.
const TOLD: [&str; 13] = [
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
/// Deeper than this nothing is told.
const DEEPEST: usize = 24;
/// So many subschemas are compared.
const MAX_COMPARED: usize = 20_000;
/// So many bytes of changes are told.
const MAX_TOLD_BYTES: usize = 256 * 1024;

/// The walk through both.
pub(super) struct Walk<'s> {
    old: &'s Value,
    new: &'s Value,
    changes: Vec<Change>,
    /// Pairs of references on the way here, so that recursion ends.
    passed: Vec<(String, String)>,
    /// Subschemas that are still compared.
    left: usize,
    /// Bytes that may still be told.
    room: usize,
}

impl<'s> Walk<'s> {
    /// Every change of the schema.
    pub(super) fn between(old: &'s Value, new: &'s Value) -> Vec<Change> {
        let (left, room) = (MAX_COMPARED, MAX_TOLD_BYTES);
        let mut walk = Walk { old, new, changes: Vec::new(), passed: Vec::new(), left, room };
        walk.compare(old, new, "", 0);
        if walk.left == 0 || walk.room == 0 {
            let says = "further changes are not listed".to_owned();
            let kind = ChangeKind::Reworded;
            walk.changes.push(Change { pointer: String::new(), kind, says });
        }
        walk.changes
    }

    fn tell(&mut self, pointer: &str, kind: ChangeKind, says: impl Into<String>) {
        let says = says.into();
        self.room = self.room.saturating_sub(pointer.len() + says.len() + 1);
        if self.room > 0 {
            self.changes.push(Change { pointer: pointer.to_owned(), kind, says });
        }
    }

    fn compare(&mut self, old: &'s Value, new: &'s Value, at: &str, depth: usize) {
        let reference = |schema: &Value| {
            schema.get("$ref").and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let pair = (reference(old), reference(new));
        if self.left == 0 || self.room == 0 {
            return;
        }
        self.left -= 1;
        if depth > DEEPEST
            || (pair != (String::new(), String::new()) && self.passed.contains(&pair))
        {
            return;
        }
        let (old, new) = (resolve(self.old, old), resolve(self.new, new));
        let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else {
            if old != new {
                self.tell(at, ChangeKind::Reworded, format!("{old} became {new}"));
            }
            return;
        };
        self.passed.push(pair);
        self.values(before, after, at);
        self.fields(before, after, at, depth);
        self.openness(before, after, at, depth);
        if let (Some(old), Some(new)) = (before.get("items"), after.get("items")) {
            self.compare(old, new, &format!("{at}/*"), depth + 1);
        } else if before.get("items") != after.get("items") {
            self.tell(at, ChangeKind::Reworded, "what the items are was changed");
        }
        self.others(before, after, at);
        self.passed.pop();
    }

    fn values(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, at: &str) {
        let types =
            |schema: &Map<String, Value>| schema.get("type").cloned().unwrap_or(Value::from("any"));
        if types(old) != types(new) {
            self.tell(
                at,
                ChangeKind::TypeChanged,
                format!("type {} became {}", types(old), types(new)),
            );
        }
        match (members(old), members(new)) {
            (Some(before), Some(after)) => {
                for gone in before.difference(&after) {
                    let says = format!("{gone} is no longer allowed");
                    self.tell(at, ChangeKind::MemberRemoved, says);
                }
                for come in after.difference(&before) {
                    self.tell(at, ChangeKind::MemberAdded, format!("{come} is allowed"));
                }
            }
            (None, Some(_)) => {
                self.tell(at, ChangeKind::Tightened, "only listed values are allowed");
            }
            (Some(_), None) => {
                self.tell(at, ChangeKind::Loosened, "more than listed values are allowed");
            }
            (None, None) => {}
        }
        if old.get("default") != new.get("default") {
            let shown = |schema: &Map<String, Value>| {
                schema.get("default").map_or("none".to_owned(), Value::to_string)
            };
            self.tell(
                at,
                ChangeKind::DefaultChanged,
                format!("default {} became {}", shown(old), shown(new)),
            );
        }
    }

    fn fields(
        &mut self,
        old: &'s Map<String, Value>,
        new: &'s Map<String, Value>,
        at: &str,
        depth: usize,
    ) {
        let nothing: &'s Map<String, Value> = EMPTY.get_or_init(Map::new);
        let declared = |schema: &'s Map<String, Value>| {
            schema.get("properties").and_then(Value::as_object).unwrap_or(nothing)
        };
        let asked = |schema: &'s Map<String, Value>| -> BTreeSet<&'s str> {
            let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).collect()
        };
        let (was, now) = (asked(old), asked(new));
        let (before, after) = (declared(old), declared(new));
        for (name, schema) in before {
            let inside = json::child(at, name);
            match after.get(name) {
                Some(other) => self.compare(schema, other, &inside, depth + 1),
                None => self.tell(
                    &inside,
                    ChangeKind::FieldRemoved,
                    format!("field `{name}` is no longer declared"),
                ),
            }
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            let how = if now.contains(name.as_str()) { "required" } else { "optional" };
            self.tell(
                &json::child(at, name),
                ChangeKind::FieldAdded,
                format!("{how} field `{name}` was added"),
            );
        }
        let known = |name: &str| before.contains_key(name) == after.contains_key(name);
        for name in now.difference(&was).filter(|name| known(name)) {
            self.tell(
                &json::child(at, name),
                ChangeKind::BecameRequired,
                format!("field `{name}` became required"),
            );
        }
        for name in was.difference(&now).filter(|name| known(name)) {
            self.tell(
                &json::child(at, name),
                ChangeKind::BecameOptional,
                format!("field `{name}` became optional"),
            );
        }
    }

    fn openness(
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
                self.tell(at, ChangeKind::Tightened, "undeclared fields are no longer allowed");
            }
            (before, after) if closed(before) && !closed(after) => {
                self.tell(at, ChangeKind::Loosened, "undeclared fields are allowed");
            }
            (Some(before @ Value::Object(_)), Some(after @ Value::Object(_))) => {
                self.compare(before, after, &format!("{at}/*"), depth + 1);
            }
            (None | Some(Value::Bool(true)), None | Some(Value::Bool(true))) => {}
            _ => self.tell(at, ChangeKind::Reworded, "what undeclared fields may be was changed"),
        }
    }

    fn others(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, at: &str) {
        let keywords: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for keyword in keywords.into_iter().filter(|keyword| !TOLD.contains(&keyword.as_str())) {
            let (before, after) = (old.get(keyword), new.get(keyword));
            if before == after {
                continue;
            }
            let shown = |said: Option<&Value>| said.map_or("none".to_owned(), Value::to_string);
            let says = if before.is_none_or(is_short) && after.is_none_or(is_short) {
                format!("{keyword} {} became {}", shown(before), shown(after))
            } else {
                format!("{keyword} was changed")
            };
            self.tell(at, direction(keyword, before, after), says);
        }
    }
}

static EMPTY: std::sync::OnceLock<Map<String, Value>> = std::sync::OnceLock::new();

fn is_short(said: &Value) -> bool {
    !said.is_object() && !said.is_array()
}

fn direction(keyword: &str, old: Option<&Value>, new: Option<&Value>) -> ChangeKind {
    let number = |said: Option<&Value>| said.and_then(Value::as_f64);
    let grew = match (number(old), number(new)) {
        (Some(old), Some(new)) => Some(new > old),
        _ => None,
    };
    let floor = FLOORS.contains(&keyword);
    match (old, new) {
        _ if grew.is_some() && (floor || CEILINGS.contains(&keyword)) => {
            if grew == Some(floor) {
                ChangeKind::Tightened
            } else {
                ChangeKind::Loosened
            }
        }
        (None, Some(_)) => ChangeKind::Tightened,
        (Some(_), None) => ChangeKind::Loosened,
        _ => ChangeKind::Reworded,
    }
}

/// The listed values as texts.
fn members(schema: &Map<String, Value>) -> Option<BTreeSet<String>> {
    match schema.get("const") {
        Some(value) => Some(BTreeSet::from([value.to_string()])),
        None => Some(schema.get("enum")?.as_array()?.iter().map(Value::to_string).collect()),
    }
}

/// Follows a reference that stands alone.
fn resolve<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    for _ in 0..DEEPEST {
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'));
        match target.and_then(|target| root.pointer(target)) {
            Some(referred) if stands_alone(schema) => schema = referred,
            _ => break,
        }
    }
    schema
}

/// Whether a reference has no company but definitions.
fn stands_alone(schema: &Value) -> bool {
    let beside = schema.as_object().into_iter().flat_map(Map::keys);
    beside.into_iter().all(|keyword| {
        matches!(keyword.as_str(), "$ref" | "$defs" | "definitions" | "$schema" | "$id")
    })
}
