//! What a schema tells of the value at a path: what it may be, and whether there can be one at all.
//!
//! The answers may allow more than the schema does, never less.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::effort::Effort;
use crate::expr::{May, Numbers, Plain, ReadStep};
use crate::limits::MAX_TOLD_VALUES;

/// References and combinations deeper than this tell nothing.
const DEEPEST: usize = 24;
/// How many subschemas one question looks at; what lies beyond tells nothing.
const MOST_PARTS: usize = 10_000;

/// A schema to ask about paths.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'s> {
    root: &'s Value,
    /// What all questions of one `check` share; none where a single one is put.
    effort: Option<&'s Effort>,
}

/// How a schema stands to the fields of a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Standing<'s> {
    /// Nothing speaks against it.
    Known,
    /// There is no such field in any value that fits: the step that fails, and the names there are.
    Forbidden(usize, Vec<&'s str>),
    /// The schema leaves room for it, but names others and not this one.
    Undeclared(usize, Vec<&'s str>),
}

impl<'s> View<'s> {
    #[cfg(test)]
    pub(super) fn of(root: &'s Value) -> Self {
        Self { root, effort: None }
    }

    /// A schema that is asked as long as the effort lasts; then it tells nothing.
    pub(super) fn with_effort(root: &'s Value, effort: &'s Effort) -> Self {
        Self { root, effort: Some(effort) }
    }

    fn walk(self) -> Walk<'s> {
        Walk { root: self.root, left: Cell::new(MOST_PARTS), effort: self.effort }
    }

    /// What the value at a path may be; `undefined` where it may be missing.
    pub(super) fn possible(self, steps: &[ReadStep]) -> May {
        self.walk().within(self.root, steps, 0)
    }

    /// Whether each field of a path is one the schema knows.
    pub(super) fn standing(self, steps: &[ReadStep]) -> Standing<'s> {
        for (index, step) in steps.iter().enumerate() {
            let ReadStep::Field(name) = step else { continue };
            let before = self.possible(&steps[..index]).without(&[Plain::Undefined]);
            let here = self.possible(&steps[..=index]).without(&[Plain::Undefined]);
            let mut parts = Vec::new();
            let walk = self.walk();
            let complete = walk.parts(self.root, &steps[..index], 0, &mut parts);
            let forbidden = here.is_never() && !before.is_never();
            let open = parts.iter().any(|part| is_open(part));
            let names_any = || parts.iter().any(|part| declared(part).next().is_some());
            let declares = || parts.iter().any(|part| walk.declares(part, name));
            let undeclared = complete && !open && names_any() && !declares();
            if !forbidden && !undeclared {
                continue;
            }
            let Some(names) = walk.names(&parts) else { return Standing::Known };
            return if forbidden {
                Standing::Forbidden(index, names)
            } else {
                Standing::Undeclared(index, names)
            };
        }
        Standing::Known
    }

    /// Whether every value that fits has something at a path.
    pub(super) fn is_required(self, steps: &[ReadStep]) -> bool {
        !steps.is_empty()
            && (0..steps.len()).all(|index| {
                let ReadStep::Field(name) = &steps[index] else { return true };
                let mut parts = Vec::new();
                let walk = self.walk();
                walk.parts(self.root, &steps[..index], 0, &mut parts);
                parts.iter().any(|part| {
                    let default = part
                        .get("properties")
                        .and_then(|properties| properties.get(name.as_str()))
                        .is_some_and(|property| property.get("default").is_some());
                    default || walk.requires(part, name)
                })
            })
    }

    /// The patterns that strings at a path must match, as far as they are said outright.
    pub(super) fn patterns(self, steps: &[ReadStep]) -> Vec<&'s str> {
        let mut parts = Vec::new();
        self.walk().parts(self.root, steps, 0, &mut parts);
        parts.iter().filter_map(|part| part.get("pattern").and_then(Value::as_str)).collect()
    }
}

/// One question put to a schema.
struct Walk<'s> {
    root: &'s Value,
    left: Cell<usize>,
    effort: Option<&'s Effort>,
}

impl<'s> Walk<'s> {
    /// Whether there is nothing more to look at: too deep, or too much.
    fn gives_up(&self, depth: usize) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        depth > DEEPEST || left == 0 || !self.pays(1)
    }

    fn pays(&self, steps: usize) -> bool {
        self.effort.is_none_or(|effort| effort.spend(steps))
    }

    /// Whether a schema object asks for a field; where that would cost too much, it does not.
    fn requires(&self, object: &Map<String, Value>, name: &str) -> bool {
        let required = list(object, "required");
        self.pays(required.len() / 16) && required.iter().any(|one| one == name)
    }

    /// Whether a schema object names a field; where that would cost too much, it does.
    fn declares(&self, object: &Map<String, Value>, name: &str) -> bool {
        let properties = object.get("properties").and_then(Value::as_object);
        let required = list(object, "required");
        properties.is_some_and(|properties| properties.contains_key(name))
            || !self.pays(required.len() / 16)
            || required.iter().any(|one| one == name)
    }

    /// The fields that schema objects name; `None` where that would cost too much.
    fn names(&self, parts: &[&'s Map<String, Value>]) -> Option<Vec<&'s str>> {
        let mut names = Vec::new();
        for name in parts.iter().flat_map(|part| declared(part)) {
            if !self.pays(1) {
                return None;
            }
            names.push(name);
        }
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    fn resolve(&self, reference: &str) -> Option<&'s Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    fn is_draft_07(&self) -> bool {
        let named = self.root.get("$schema").and_then(Value::as_str);
        named.is_some_and(|name| name.contains("draft-07"))
    }

    fn within(&self, schema: &'s Value, steps: &[ReadStep], depth: usize) -> May {
        if self.gives_up(depth) {
            return May::anything();
        }
        let object = match schema {
            Value::Bool(false) => return May::default(),
            Value::Object(object) => object,
            _ => return self.own(&EMPTY, steps, depth),
        };
        let target = object.get("$ref").and_then(Value::as_str).map(|name| self.resolve(name));
        // In draft-07 a reference stands alone, whatever is written beside it.
        if let (Some(target), true) = (target, self.is_draft_07()) {
            return target.map_or_else(May::anything, |one| self.within(one, steps, depth + 1));
        }
        let mut may = self.own(object, steps, depth);
        if let Some(Some(target)) = target {
            may = may.and(&self.within(target, steps, depth + 1));
        }
        for part in list(object, "allOf") {
            may = may.and(&self.within(part, steps, depth + 1));
        }
        for keyword in ["anyOf", "oneOf"] {
            if object.contains_key(keyword) {
                let branches = list(object, keyword).iter();
                let any = branches.fold(May::default(), |all, branch| {
                    all.or(&self.within(branch, steps, depth + 1))
                });
                may = may.and(&any);
            }
        }
        may
    }

    /// What the keywords of one schema object allow, without those that combine others.
    fn own(&self, object: &'s Map<String, Value>, steps: &[ReadStep], depth: usize) -> May {
        if !self.pays(4 * list(object, "enum").len().min(MAX_TOLD_VALUES)) {
            return May::anything();
        }
        let here = itself(object);
        let Some((step, rest)) = steps.split_first() else { return here };
        let mut may = May::default();
        let absent = if rest.is_empty() { May::only(Plain::Undefined) } else { May::default() };
        match step {
            ReadStep::Field(name) => {
                if here.has(Plain::Object) {
                    may = may.or(&self.field(object, name, rest, &absent, depth));
                }
                // An index written as a name.
                if here.lists.is_some() && name.parse::<usize>().is_ok() {
                    may = May::anything();
                }
                let lists = May { lists: here.lists, ..May::default() };
                let others = here.without(&[Plain::Object, Plain::Null]);
                if !others.or(&lists).is_never() {
                    may = may.or(&absent);
                }
            }
            ReadStep::Element => {
                if here.has(Plain::Object) || here.texts != crate::expr::Texts::None {
                    return May::anything();
                }
                if here.lists.is_some() {
                    let item = match object.get("items") {
                        Some(item) if !item.is_array() && !object.contains_key("prefixItems") => {
                            self.within(item, rest, depth + 1)
                        }
                        _ => May::anything(),
                    };
                    may = may.or(&item).or(&absent);
                }
            }
        }
        may
    }

    fn field(
        &self,
        object: &'s Map<String, Value>,
        name: &str,
        rest: &[ReadStep],
        absent: &May,
        depth: usize,
    ) -> May {
        let property = object.get("properties").and_then(|properties| properties.get(name));
        let patterned = object.contains_key("patternProperties");
        let present = match (property, object.get("additionalProperties")) {
            (Some(property), _) => self.within(property, rest, depth + 1),
            (None, Some(other)) if !patterned => self.within(other, rest, depth + 1),
            (None, _) => return May::anything(),
        };
        if self.requires(object, name) { present } else { present.or(absent) }
    }

    /// Every schema object that may have a say about the value at a path; whether that is all of them.
    fn parts(
        &self,
        schema: &'s Value,
        steps: &[ReadStep],
        depth: usize,
        into: &mut Vec<&'s Map<String, Value>>,
    ) -> bool {
        let Value::Object(object) = schema else { return true };
        if self.gives_up(depth) {
            return false;
        }
        let mut complete =
            !["$dynamicRef", "$recursiveRef"].iter().any(|keyword| object.contains_key(*keyword));
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            complete &= self
                .resolve(reference)
                .is_some_and(|target| self.parts(target, steps, depth + 1, into));
        }
        for part in applied(object) {
            complete &= self.parts(part, steps, depth + 1, into);
        }
        match steps.split_first() {
            None => into.push(object),
            Some((step, rest)) => {
                for part in below(object, step) {
                    complete &= self.parts(part, rest, depth + 1, into);
                }
            }
        }
        complete
    }
}

static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

fn list<'s>(object: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    object.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The subschemas that speak of the same value.
fn applied(object: &Map<String, Value>) -> Vec<&Value> {
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| list(object, keyword));
    let single = ["if", "then", "else"].into_iter().filter_map(|keyword| object.get(keyword));
    let dependent = ["dependentSchemas", "dependencies"]
        .into_iter()
        .filter_map(|keyword| object.get(keyword)?.as_object())
        .flat_map(Map::values);
    lists.chain(single).chain(dependent).collect()
}

/// The subschemas that speak of a member.
fn below<'s>(object: &'s Map<String, Value>, step: &ReadStep) -> Vec<&'s Value> {
    let members = |keyword: &str| object.get(keyword).and_then(Value::as_object);
    let all = |keyword: &str| members(keyword).into_iter().flat_map(Map::values);
    match step {
        ReadStep::Field(name) => {
            let own = members("properties").and_then(|properties| properties.get(name));
            let others = object.get("additionalProperties").filter(|_| own.is_none());
            own.into_iter().chain(others).chain(all("patternProperties")).collect()
        }
        ReadStep::Element => {
            let items = object.get("items").into_iter();
            let items = items.flat_map(|item| {
                item.as_array().map_or_else(|| vec![item], |several| several.iter().collect())
            });
            items
                .chain(list(object, "prefixItems"))
                .chain(object.get("additionalItems"))
                .chain(all("properties"))
                .chain(all("patternProperties"))
                .chain(object.get("additionalProperties"))
                .collect()
        }
    }
}

fn declared(object: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let properties = object.get("properties").and_then(Value::as_object);
    let required = list(object, "required").iter().filter_map(Value::as_str);
    properties.into_iter().flat_map(Map::keys).map(String::as_str).chain(required)
}

/// Whether fields beyond the declared ones are expected.
fn is_open(object: &Map<String, Value>) -> bool {
    let said = |keyword: &str| object.get(keyword).is_some_and(|said| *said != Value::Bool(false));
    said("additionalProperties") || said("patternProperties") || said("unevaluatedProperties")
}

/// What a value may be by the keywords that speak of it alone.
fn itself(object: &Map<String, Value>) -> May {
    let mut may = match object.get("type") {
        Some(Value::String(name)) => of_type(name),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .fold(May::default(), |all, name| all.or(&of_type(name))),
        _ => May::json(),
    };
    if let Some(value) = object.get("const") {
        may = may.and(&May::value(value));
    }
    if let Some(values) = object.get("enum").and_then(Value::as_array) {
        may = may.and(&May::one_of(values));
    }
    let number = |keyword: &str| object.get(keyword).and_then(Value::as_f64);
    // An exclusive bound is taken for the bound itself: a little more than is allowed.
    let low = number("minimum").into_iter().chain(number("exclusiveMinimum"));
    let high = number("maximum").into_iter().chain(number("exclusiveMaximum"));
    let range =
        Numbers::Between(low.fold(f64::NEG_INFINITY, f64::max), high.fold(f64::INFINITY, f64::min));
    let count = |keyword: &str| object.get(keyword).and_then(Value::as_u64).map(|n| n as usize);
    let (least, most) = (count("minItems").unwrap_or(0), count("maxItems").unwrap_or(usize::MAX));
    let bounded = May { numbers: range, ..May::list(least, most) };
    let others = May { numbers: Numbers::None, lists: None, ..May::json() };
    may.and(&others.or(&bounded))
}

fn of_type(name: &str) -> May {
    match name {
        "null" => May::only(Plain::Null),
        "boolean" => May::truth(true, true),
        "number" | "integer" => May::number(),
        "string" => May::text(),
        "array" => May::list(0, usize::MAX),
        "object" => May::only(Plain::Object),
        _ => May::json(),
    }
}
