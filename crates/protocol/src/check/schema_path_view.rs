//! What a schema says about the value at a path: which values are possible, and whether there can
//! be one at all.
//!
//! The answers may allow more than the schema does, never less.

use std::cell::Cell;

use countersign_contract::expr::{AbstractValue, NumberSet, PlainValue, ReadStep};
use countersign_contract::limits::MAX_ANALYZED_ENUM_VALUES;
use serde_json::{Map, Value};

use super::analysis_budget::AnalysisBudget;

/// Maximum depth of references and combinations; deeper ones count as unconstrained.
const MAX_REFERENCE_DEPTH: usize = 24;
/// Maximum number of subschemas per query; what lies beyond counts as unconstrained.
const MAX_SUBSCHEMAS: usize = 10_000;

/// A schema that can be queried by path.
#[derive(Debug, Clone, Copy)]
pub(super) struct SchemaPathView<'s> {
    root: &'s Value,
    /// The budget that all queries of one `check` share; absent for a single query.
    budget: Option<&'s AnalysisBudget>,
}

/// How a schema declares the fields of a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FieldDeclaration<'s> {
    /// The schema does not exclude the path.
    Allowed,
    /// No valid value has this field: the index of the failing step, and the declared names.
    Forbidden(usize, Vec<&'s str>),
    /// The schema permits the field but declares others and not this one: the index of the step,
    /// and the declared names.
    Undeclared(usize, Vec<&'s str>),
}

impl<'s> SchemaPathView<'s> {
    #[cfg(test)]
    pub(super) fn new(root: &'s Value) -> Self {
        Self { root, budget: None }
    }

    /// Creates a view that answers until the budget is spent; after that every path is
    /// unconstrained.
    pub(super) fn with_budget(root: &'s Value, effort: &'s AnalysisBudget) -> Self {
        Self { root, budget: Some(effort) }
    }

    fn start_walk(self) -> SchemaPathWalker<'s> {
        SchemaPathWalker {
            root: self.root,
            subschemas_left: Cell::new(MAX_SUBSCHEMAS),
            budget: self.budget,
        }
    }

    /// The possible values at a path; includes `undefined` if the value may be missing.
    pub(super) fn possible_values(self, steps: &[ReadStep]) -> AbstractValue {
        self.start_walk().values_at(self.root, steps, 0)
    }

    /// Determines whether the schema declares each field of a path.
    pub(super) fn classify_path(self, steps: &[ReadStep]) -> FieldDeclaration<'s> {
        for (index, step) in steps.iter().enumerate() {
            let ReadStep::Field(name) = step else { continue };
            let before =
                self.possible_values(&steps[..index]).without_plain(&[PlainValue::Undefined]);
            let here =
                self.possible_values(&steps[..=index]).without_plain(&[PlainValue::Undefined]);
            let mut parts = Vec::new();
            let walk = self.start_walk();
            let complete = walk.collect_subschemas(self.root, &steps[..index], 0, &mut parts);
            let forbidden = here.is_never() && !before.is_never();
            let open = parts.iter().any(|part| allows_extra_fields(part));
            let names_any = || parts.iter().any(|part| declared_fields(part).next().is_some());
            let declares = || parts.iter().any(|part| walk.declares_field(part, name));
            let undeclared = complete && !open && names_any() && !declares();
            if !forbidden && !undeclared {
                continue;
            }
            let Some(names) = walk.collect_declared_names(&parts) else {
                return FieldDeclaration::Allowed;
            };
            return if forbidden {
                FieldDeclaration::Forbidden(index, names)
            } else {
                FieldDeclaration::Undeclared(index, names)
            };
        }
        FieldDeclaration::Allowed
    }

    /// Whether every valid value has a value at the path.
    pub(super) fn is_required(self, steps: &[ReadStep]) -> bool {
        !steps.is_empty()
            && (0..steps.len()).all(|index| {
                let ReadStep::Field(name) = &steps[index] else { return true };
                let mut parts = Vec::new();
                let walk = self.start_walk();
                walk.collect_subschemas(self.root, &steps[..index], 0, &mut parts);
                parts.iter().any(|part| {
                    let default = part
                        .get("properties")
                        .and_then(|properties| properties.get(name.as_str()))
                        .is_some_and(|property| property.get("default").is_some());
                    default || walk.requires_field(part, name)
                })
            })
    }

    /// The patterns that strings at a path must match, as far as the schema states them directly.
    pub(super) fn required_patterns(self, steps: &[ReadStep]) -> Vec<&'s str> {
        let mut parts = Vec::new();
        self.start_walk().collect_subschemas(self.root, steps, 0, &mut parts);
        parts.iter().filter_map(|part| part.get("pattern").and_then(Value::as_str)).collect()
    }
}

/// One query to a schema.
struct SchemaPathWalker<'s> {
    root: &'s Value,
    subschemas_left: Cell<usize>,
    budget: Option<&'s AnalysisBudget>,
}

impl<'s> SchemaPathWalker<'s> {
    /// Whether the query must stop: too deep, or too many subschemas.
    fn is_exhausted(&self, depth: usize) -> bool {
        let left = self.subschemas_left.get();
        self.subschemas_left.set(left.saturating_sub(1));
        depth > MAX_REFERENCE_DEPTH || left == 0 || !self.spend_steps(1)
    }

    fn spend_steps(&self, steps: usize) -> bool {
        self.budget.is_none_or(|effort| effort.spend(steps))
    }

    /// Whether a schema object requires a field; `false` if the budget is spent.
    fn requires_field(&self, object: &Map<String, Value>, name: &str) -> bool {
        let required = keyword_items(object, "required");
        self.spend_steps(required.len() / 16) && required.iter().any(|one| one == name)
    }

    /// Whether a schema object declares a field; `true` if the budget is spent.
    fn declares_field(&self, object: &Map<String, Value>, name: &str) -> bool {
        let properties = object.get("properties").and_then(Value::as_object);
        let required = keyword_items(object, "required");
        properties.is_some_and(|properties| properties.contains_key(name))
            || !self.spend_steps(required.len() / 16)
            || required.iter().any(|one| one == name)
    }

    /// Collects the fields that schema objects declare; `None` if the budget is spent.
    fn collect_declared_names(&self, parts: &[&'s Map<String, Value>]) -> Option<Vec<&'s str>> {
        let mut names = Vec::new();
        for name in parts.iter().flat_map(|part| declared_fields(part)) {
            if !self.spend_steps(1) {
                return None;
            }
            names.push(name);
        }
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    fn resolve_reference(&self, reference: &str) -> Option<&'s Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    fn is_draft_07(&self) -> bool {
        let named = self.root.get("$schema").and_then(Value::as_str);
        named.is_some_and(|name| name.contains("draft-07"))
    }

    fn values_at(&self, schema: &'s Value, steps: &[ReadStep], depth: usize) -> AbstractValue {
        if self.is_exhausted(depth) {
            return AbstractValue::any();
        }
        let object = match schema {
            Value::Bool(false) => return AbstractValue::default(),
            Value::Object(object) => object,
            _ => return self.own_values_at(&EMPTY, steps, depth),
        };
        let target =
            object.get("$ref").and_then(Value::as_str).map(|name| self.resolve_reference(name));
        // In draft-07 a reference ignores the keywords beside it.
        if let (Some(target), true) = (target, self.is_draft_07()) {
            return target
                .map_or_else(AbstractValue::any, |one| self.values_at(one, steps, depth + 1));
        }
        let mut may = self.own_values_at(object, steps, depth);
        if let Some(Some(target)) = target {
            may = may.intersection(&self.values_at(target, steps, depth + 1));
        }
        for part in keyword_items(object, "allOf") {
            may = may.intersection(&self.values_at(part, steps, depth + 1));
        }
        for keyword in ["anyOf", "oneOf"] {
            if object.contains_key(keyword) {
                let branches = keyword_items(object, keyword).iter();
                let any = branches.fold(AbstractValue::default(), |all, branch| {
                    all.union(&self.values_at(branch, steps, depth + 1))
                });
                may = may.intersection(&any);
            }
        }
        may
    }

    /// The values that the keywords of one schema object allow, without those that combine other
    /// schemas.
    fn own_values_at(
        &self,
        object: &'s Map<String, Value>,
        steps: &[ReadStep],
        depth: usize,
    ) -> AbstractValue {
        if !self.spend_steps(4 * keyword_items(object, "enum").len().min(MAX_ANALYZED_ENUM_VALUES))
        {
            return AbstractValue::any();
        }
        let here = own_values(object);
        let Some((step, rest)) = steps.split_first() else { return here };
        let mut may = AbstractValue::default();
        let absent = if rest.is_empty() {
            AbstractValue::from_plain(PlainValue::Undefined)
        } else {
            AbstractValue::default()
        };
        match step {
            ReadStep::Field(name) => {
                if here.has_plain(PlainValue::Object) {
                    may = may.union(&self.field_values_at(object, name, rest, &absent, depth));
                }
                // A list index written as a name.
                if here.list_lengths.is_some() && name.parse::<usize>().is_ok() {
                    may = AbstractValue::any();
                }
                let lists =
                    AbstractValue { list_lengths: here.list_lengths, ..AbstractValue::default() };
                let others = here.without_plain(&[PlainValue::Object, PlainValue::Null]);
                if !others.union(&lists).is_never() {
                    may = may.union(&absent);
                }
            }
            ReadStep::Element => {
                if here.has_plain(PlainValue::Object)
                    || here.strings != countersign_contract::expr::StringSet::Empty
                {
                    return AbstractValue::any();
                }
                if here.list_lengths.is_some() {
                    let item = match object.get("items") {
                        Some(item) if !item.is_array() && !object.contains_key("prefixItems") => {
                            self.values_at(item, rest, depth + 1)
                        }
                        _ => AbstractValue::any(),
                    };
                    may = may.union(&item).union(&absent);
                }
            }
        }
        may
    }

    fn field_values_at(
        &self,
        object: &'s Map<String, Value>,
        name: &str,
        rest: &[ReadStep],
        absent: &AbstractValue,
        depth: usize,
    ) -> AbstractValue {
        let property = object.get("properties").and_then(|properties| properties.get(name));
        let patterned = object.contains_key("patternProperties");
        let present = match (property, object.get("additionalProperties")) {
            (Some(property), _) => self.values_at(property, rest, depth + 1),
            (None, Some(other)) if !patterned => self.values_at(other, rest, depth + 1),
            (None, _) => return AbstractValue::any(),
        };
        if self.requires_field(object, name) { present } else { present.union(absent) }
    }

    /// Collects every schema object that may apply to the value at a path, and returns whether the
    /// collection is complete.
    fn collect_subschemas(
        &self,
        schema: &'s Value,
        steps: &[ReadStep],
        depth: usize,
        into: &mut Vec<&'s Map<String, Value>>,
    ) -> bool {
        let Value::Object(object) = schema else { return true };
        if self.is_exhausted(depth) {
            return false;
        }
        let mut complete =
            !["$dynamicRef", "$recursiveRef"].iter().any(|keyword| object.contains_key(*keyword));
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            complete &= self
                .resolve_reference(reference)
                .is_some_and(|target| self.collect_subschemas(target, steps, depth + 1, into));
        }
        for part in in_place_subschemas(object) {
            complete &= self.collect_subschemas(part, steps, depth + 1, into);
        }
        match steps.split_first() {
            None => into.push(object),
            Some((step, rest)) => {
                for part in member_subschemas(object, step) {
                    complete &= self.collect_subschemas(part, rest, depth + 1, into);
                }
            }
        }
        complete
    }
}

static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

fn keyword_items<'s>(object: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    object.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The subschemas that apply to the same value.
fn in_place_subschemas(object: &Map<String, Value>) -> Vec<&Value> {
    let lists =
        ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| keyword_items(object, keyword));
    let single = ["if", "then", "else"].into_iter().filter_map(|keyword| object.get(keyword));
    let dependent = ["dependentSchemas", "dependencies"]
        .into_iter()
        .filter_map(|keyword| object.get(keyword)?.as_object())
        .flat_map(Map::values);
    lists.chain(single).chain(dependent).collect()
}

/// The subschemas that apply to a member.
fn member_subschemas<'s>(object: &'s Map<String, Value>, step: &ReadStep) -> Vec<&'s Value> {
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
                .chain(keyword_items(object, "prefixItems"))
                .chain(object.get("additionalItems"))
                .chain(all("properties"))
                .chain(all("patternProperties"))
                .chain(object.get("additionalProperties"))
                .collect()
        }
    }
}

fn declared_fields(object: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let properties = object.get("properties").and_then(Value::as_object);
    let required = keyword_items(object, "required").iter().filter_map(Value::as_str);
    properties.into_iter().flat_map(Map::keys).map(String::as_str).chain(required)
}

/// Whether fields beyond the declared ones are expected.
fn allows_extra_fields(object: &Map<String, Value>) -> bool {
    let said = |keyword: &str| object.get(keyword).is_some_and(|said| *said != Value::Bool(false));
    said("additionalProperties") || said("patternProperties") || said("unevaluatedProperties")
}

/// The values that the keywords about the value itself allow.
fn own_values(object: &Map<String, Value>) -> AbstractValue {
    let mut may = match object.get("type") {
        Some(Value::String(name)) => values_of_type(name),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .fold(AbstractValue::default(), |all, name| all.union(&values_of_type(name))),
        _ => AbstractValue::any_json(),
    };
    if let Some(value) = object.get("const") {
        may = may.intersection(&AbstractValue::from_json(value));
    }
    if let Some(values) = object.get("enum").and_then(Value::as_array) {
        may = may.intersection(&AbstractValue::from_json_values(values));
    }
    let number = |keyword: &str| object.get(keyword).and_then(Value::as_f64);
    // An exclusive bound is treated as inclusive, which allows slightly more than the schema does.
    let low = number("minimum").into_iter().chain(number("exclusiveMinimum"));
    let high = number("maximum").into_iter().chain(number("exclusiveMaximum"));
    let range = NumberSet::Between(
        low.fold(f64::NEG_INFINITY, f64::max),
        high.fold(f64::INFINITY, f64::min),
    );
    let count = |keyword: &str| object.get(keyword).and_then(Value::as_u64).map(|n| n as usize);
    let (least, most) = (count("minItems").unwrap_or(0), count("maxItems").unwrap_or(usize::MAX));
    let bounded = AbstractValue { numbers: range, ..AbstractValue::list_of_length(least, most) };
    let others = AbstractValue {
        numbers: NumberSet::Empty,
        list_lengths: None,
        ..AbstractValue::any_json()
    };
    may.intersection(&others.union(&bounded))
}

fn values_of_type(name: &str) -> AbstractValue {
    match name {
        "null" => AbstractValue::from_plain(PlainValue::Null),
        "boolean" => AbstractValue::from_booleans(true, true),
        "number" | "integer" => AbstractValue::any_number(),
        "string" => AbstractValue::any_string(),
        "array" => AbstractValue::list_of_length(0, usize::MAX),
        "object" => AbstractValue::from_plain(PlainValue::Object),
        _ => AbstractValue::any_json(),
    }
}
