//! Represents absent fields as null where a provider requires every field.
//!
//! The fields are stored as a graph along the schema, with one node per subschema, so that
//! recursive schemas need no list of all their pointers.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::contract::ReferenceResolver;
use countersign_contract::json;
use serde_json::{Map, Value};

/// The number of times that a recursive node is listed on one path.
const MAX_RECURSIVE_VISITS: usize = 4;
/// The maximum number of listed pointers. Nulls are removed at all of them, listed or not.
const MAX_LISTED_POINTERS: usize = 1_000;
/// The maximum number of steps of listing pointers.
const MAX_LIST_STEPS: usize = 20_000;
/// The maximum number of steps of removing nulls from one value. Nulls beyond it stay, and the
/// contract decides about them.
const MAX_DROP_STEPS: usize = 4_000_000;

/// Returns the fields that a schema object requires.
pub(super) fn required_fields(object: &Map<String, Value>) -> BTreeSet<&str> {
    let names = object.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// Returns whether the contract accepts a value without this field.
pub(super) fn may_be_absent(required: &BTreeSet<&str>, name: &str, field: &Value) -> bool {
    !required.contains(name) || field.get("default").is_some()
}

/// Decides whether a subschema accepts null, from its keywords alone.
#[derive(Debug, Default)]
pub(super) struct NullabilityChecker {
    /// Results by the pointer of the definition; a definition that is being checked counts as
    /// accepting null.
    accepts_null_by_pointer: RefCell<BTreeMap<String, bool>>,
}

impl NullabilityChecker {
    /// Returns whether the schema accepts null.
    pub(super) fn accepts_null(&self, references: &ReferenceResolver<'_>, schema: &Value) -> bool {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            other => return other != &Value::Bool(false),
        };
        let takes = |part: &Value| self.accepts_null(references, part);
        let parts = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
        let referred = || match references.resolve_in(schema) {
            Some((pointer, target)) => self.definition_accepts_null(references, &pointer, target),
            None => true,
        };
        if references.ignores_siblings && keywords.contains_key("$ref") {
            return referred();
        }
        let typed = match keywords.get("type") {
            Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
            Some(name) => name == "null",
            None => true,
        };
        let one = |count: usize| count == 1;
        typed
            && keywords.get("const").is_none_or(Value::is_null)
            && parts("enum").is_none_or(|members| members.iter().any(Value::is_null))
            && referred()
            && parts("allOf").is_none_or(|parts| parts.iter().all(takes))
            && parts("anyOf").is_none_or(|parts| parts.iter().any(takes))
            && parts("oneOf")
                .is_none_or(|parts| one(parts.iter().filter(|part| takes(part)).count()))
            && keywords.get("not").is_none_or(|part| !takes(part))
            && keywords.get("if").is_none_or(|test| {
                keywords.get(if takes(test) { "then" } else { "else" }).is_none_or(takes)
            })
    }

    fn definition_accepts_null(
        &self,
        references: &ReferenceResolver<'_>,
        pointer: &str,
        target: &Value,
    ) -> bool {
        if let Some(known) = self.accepts_null_by_pointer.borrow().get(pointer) {
            return *known;
        }
        self.accepts_null_by_pointer.borrow_mut().insert(pointer.to_owned(), true);
        let takes = self.accepts_null(references, target);
        self.accepts_null_by_pointer.borrow_mut().insert(pointer.to_owned(), takes);
        takes
    }
}

/// Every field for which null means absence.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct NullableFields {
    nodes: Vec<NullableNode>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct NullableNode {
    /// Subschemas that apply to the same value.
    in_place: Vec<usize>,
    /// The fields in order: the name, whether null means absence, and the node of the subschema.
    fields: Vec<(String, bool, usize)>,
    by_name: BTreeMap<String, usize>,
    items: Vec<usize>,
}

impl NullableFields {
    /// Finds the fields of a schema whose references lead into the document.
    pub(super) fn from_schema(references: &ReferenceResolver<'_>, start: &Value) -> Self {
        let mut finder = NullableFinder {
            references,
            null_checker: NullabilityChecker::default(),
            nullable_fields: Self::default(),
            node_ids: BTreeMap::new(),
            pending: Vec::new(),
        };
        finder.intern_node(start);
        while let Some((index, schema)) = finder.pending.pop() {
            finder.visit_subschema(index, schema);
        }
        finder.nullable_fields
    }

    /// Returns the pointers of the fields, with `*` for every item; at most 1000.
    pub(super) fn list_pointers(&self) -> Vec<String> {
        let mut list = NullableLister { steps_left: MAX_LIST_STEPS, ..NullableLister::default() };
        if !self.nodes.is_empty() {
            list.list_from(self, 0, "");
        }
        list.pointers
    }

    /// Removes the nulls that mean absence.
    pub(super) fn drop_nulls(&self, value: &mut Value) {
        if !self.nodes.is_empty() {
            self.drop_nulls_in(&BTreeSet::from([0]), value, &mut MAX_DROP_STEPS.clone());
        }
    }

    fn drop_nulls_in(&self, start: &BTreeSet<usize>, value: &mut Value, left: &mut usize) {
        if !value.is_object() && !value.is_array() {
            return;
        }
        let mut nodes = start.clone();
        let mut pending: Vec<usize> = start.iter().copied().collect();
        while let Some(node) = pending.pop() {
            pending.extend(self.nodes[node].in_place.iter().filter(|same| nodes.insert(**same)));
        }
        match value {
            Value::Object(members) => {
                let mut dropped = Vec::new();
                for (name, member) in members.iter_mut() {
                    *left = left.saturating_sub(nodes.len());
                    if *left == 0 {
                        return;
                    }
                    let fields = nodes.iter().filter_map(|node| {
                        let node = &self.nodes[*node];
                        node.by_name.get(name).map(|index| &node.fields[*index])
                    });
                    let mut inside = BTreeSet::new();
                    let mut may_drop = false;
                    for (_, nullable, field) in fields {
                        may_drop |= nullable;
                        inside.insert(*field);
                    }
                    if may_drop && member.is_null() {
                        dropped.push(name.clone());
                    } else if !inside.is_empty() {
                        self.drop_nulls_in(&inside, member, left);
                    }
                }
                let dropped: BTreeSet<String> = dropped.into_iter().collect();
                if !dropped.is_empty() {
                    members.retain(|name, _| !dropped.contains(name));
                }
            }
            Value::Array(items) => {
                let inside: BTreeSet<usize> =
                    nodes.iter().flat_map(|node| self.nodes[*node].items.iter().copied()).collect();
                if inside.is_empty() {
                    return;
                }
                for item in items {
                    *left = left.saturating_sub(1);
                    if *left == 0 {
                        return;
                    }
                    self.drop_nulls_in(&inside, item, left);
                }
            }
            _ => {}
        }
    }
}

struct NullableFinder<'r, 's, 'v> {
    references: &'r ReferenceResolver<'s>,
    null_checker: NullabilityChecker,
    nullable_fields: NullableFields,
    /// Node indices by the address of their subschema, which outlives the search.
    node_ids: BTreeMap<*const Value, usize>,
    pending: Vec<(usize, &'v Value)>,
}

impl<'s: 'v, 'v> NullableFinder<'_, 's, 'v> {
    fn intern_node(&mut self, schema: &'v Value) -> usize {
        *self.node_ids.entry(schema).or_insert_with(|| {
            self.nullable_fields.nodes.push(NullableNode::default());
            self.pending.push((self.nullable_fields.nodes.len() - 1, schema));
            self.nullable_fields.nodes.len() - 1
        })
    }

    fn visit_subschema(&mut self, index: usize, schema: &'v Value) {
        let Some(keywords) = schema.as_object() else { return };
        let mut node = NullableNode::default();
        if let Some((_, target)) = self.references.resolve_in(schema) {
            node.in_place.push(self.intern_node(target));
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for part in keywords.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                node.in_place.push(self.intern_node(part));
            }
        }
        let required = required_fields(keywords);
        let fields = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, field) in fields {
            let nullable = may_be_absent(&required, name, field)
                && !self.null_checker.accepts_null(self.references, field);
            node.by_name.insert(name.clone(), node.fields.len());
            node.fields.push((name.clone(), nullable, self.intern_node(field)));
        }
        let listed = keywords.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        for items in keywords.get("items").into_iter().chain(listed) {
            node.items.push(self.intern_node(items));
        }
        self.nullable_fields.nodes[index] = node;
    }
}

#[derive(Default)]
struct NullableLister {
    pointers: Vec<String>,
    seen: BTreeSet<String>,
    /// The number of times that each node occurs on the current path.
    visits: BTreeMap<usize, usize>,
    steps_left: usize,
}

impl NullableLister {
    fn list_from(&mut self, nullable_fields: &NullableFields, node: usize, at: &str) {
        if self.steps_left == 0 || self.pointers.len() >= MAX_LISTED_POINTERS {
            return;
        }
        self.steps_left -= 1;
        let rounds = self.visits.entry(node).or_default();
        if *rounds >= MAX_RECURSIVE_VISITS {
            return;
        }
        *rounds += 1;
        let NullableNode { in_place: same, fields, items, .. } = &nullable_fields.nodes[node];
        for same in same {
            self.list_from(nullable_fields, *same, at);
        }
        for (name, nullable, field) in fields {
            let inside = json::child_pointer(at, name);
            if *nullable
                && self.pointers.len() < MAX_LISTED_POINTERS
                && self.seen.insert(inside.clone())
            {
                self.pointers.push(inside.clone());
            }
            self.list_from(nullable_fields, *field, &inside);
        }
        for item in items {
            self.list_from(nullable_fields, *item, &format!("{at}/*"));
        }
        if let Some(rounds) = self.visits.get_mut(&node) {
            *rounds -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_contract::contract::Schema;

    use super::*;
    use serde_json::json;

    #[test]
    fn null_is_judged_as_the_engine_does() {
        let root = json!({"$defs": {
            "text": {"type": "string"}, "any": {}, "loop": {"allOf": [{"$ref": "#/$defs/loop"}]}
        }});
        let schemas = json!([
            true, false, {}, {"type": "null"}, {"type": ["string", "null"]}, {"minLength": 3},
            {"enum": [1, null]}, {"enum": [1]}, {"const": null}, {"const": 1},
            {"$ref": "#/$defs/text"}, {"$ref": "#/$defs/any"}, {"$ref": "#/$defs/loop"},
            {"not": {"type": "null"}}, {"not": {"type": "string"}},
            {"oneOf": [{}, {"type": "null"}]}, {"oneOf": [{"type": "null"}, {"type": "string"}]},
            {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/any"}]},
            {"allOf": [{}, {"type": "string"}]},
            {"if": {"type": "null"}, "then": false}, {"if": {"type": "string"}, "else": false},
            {"if": {"type": "null"}, "then": true, "else": false}
        ]);
        let references = ReferenceResolver::new(&root);
        for schema in schemas.as_array().unwrap() {
            let whole = crate::sample::to_standalone_schema(&root, schema);
            let expected = Schema::compile(whole).unwrap().is_valid(&Value::Null);
            let found = NullabilityChecker::default().accepts_null(&references, schema);
            assert_eq!(found, expected, "{schema}");
        }
    }

    #[test]
    fn nulls_are_dropped_at_any_depth() {
        let root = json!({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {
            "v": {"type": "integer"}, "next": {"$ref": "#/$defs/n", "type": "object"},
            "free": {}, "list": {"items": {"$ref": "#/$defs/n"}, "type": "array"}
        }}}});
        let references = ReferenceResolver::new(&root);
        let nullable_fields = NullableFields::from_schema(&references, &root);
        let nested = |levels: usize, leaf: Value| {
            (0..levels).fold(leaf, |inner, _| json!({"free": null, "next": inner}))
        };
        let mut value = nested(40, json!({"v": null, "list": [{"v": null, "next": null}]}));
        nullable_fields.drop_nulls(&mut value);
        assert_eq!(value, nested(40, json!({"list": [{}]})));
        assert!(nullable_fields.list_pointers().contains(&"/next/next/v".to_owned()));
    }
}
