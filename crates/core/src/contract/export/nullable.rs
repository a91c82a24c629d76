//! Absent fields where every field must be there: null stands for absence.
//!
//! The places are kept as a graph along the schema, one node a subschema, so that recursive
//! schemas need no list of all their places.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::contract::reference::References;
use crate::json;

/// A recursive place is listed this often, for people.
const ROUNDS: usize = 4;
/// Places that are listed. Nulls are dropped at all of them, listed or not.
const MAX_LISTED: usize = 1_000;
/// Steps of the walk that lists them.
const MAX_LIST_STEPS: usize = 20_000;
/// Steps of one walk through a value. Nulls beyond are left in place, and the contract is asked
/// about them.
const MAX_DROP_STEPS: usize = 4_000_000;

/// The fields that a schema object demands.
pub(super) fn required_fields(object: &Map<String, Value>) -> BTreeSet<&str> {
    let names = object.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// Whether the contract takes a value without this field.
pub(super) fn may_be_absent(required: &BTreeSet<&str>, name: &str, field: &Value) -> bool {
    !required.contains(name) || field.get("default").is_some()
}

/// Tells whether a subschema takes null, by what the keywords say of null alone.
#[derive(Debug, Default)]
pub(super) struct NullTest {
    /// By the pointer of the definition; what is being looked at counts as taken.
    known: RefCell<BTreeMap<String, bool>>,
}

impl NullTest {
    /// Whether null is a value of the schema.
    pub(super) fn takes_null(&self, references: &References<'_>, schema: &Value) -> bool {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            other => return other != &Value::Bool(false),
        };
        let takes = |part: &Value| self.takes_null(references, part);
        let parts = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
        let referred = || match references.resolve_in(schema) {
            Some((pointer, target)) => self.definition(references, &pointer, target),
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

    fn definition(&self, references: &References<'_>, pointer: &str, target: &Value) -> bool {
        if let Some(known) = self.known.borrow().get(pointer) {
            return *known;
        }
        self.known.borrow_mut().insert(pointer.to_owned(), true);
        let takes = self.takes_null(references, target);
        self.known.borrow_mut().insert(pointer.to_owned(), takes);
        takes
    }
}

/// Every place where null may stand for absence.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct NullPlaces {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Node {
    /// Subschemas of the same value.
    same: Vec<usize>,
    /// Fields in their order, whether null means their absence, and their subschemas.
    fields: Vec<(String, bool, usize)>,
    by_name: BTreeMap<String, usize>,
    items: Vec<usize>,
}

impl NullPlaces {
    /// Finds the places of a schema whose references lead into the document.
    pub(super) fn find(references: &References<'_>, start: &Value) -> Self {
        let mut finder = Finder {
            references,
            nulls: NullTest::default(),
            places: Self::default(),
            known: BTreeMap::new(),
            pending: Vec::new(),
        };
        finder.node(start);
        while let Some((index, schema)) = finder.pending.pop() {
            finder.look(index, schema);
        }
        finder.places
    }

    /// The places as pointers with `*` for every item, the first thousand of them.
    pub(super) fn list(&self) -> Vec<String> {
        let mut list = Listing { left: MAX_LIST_STEPS, ..Listing::default() };
        if !self.nodes.is_empty() {
            list.walk(self, 0, "");
        }
        list.found
    }

    /// Drops the nulls that mean absence.
    pub(super) fn drop_nulls(&self, value: &mut Value) {
        if !self.nodes.is_empty() {
            self.drop_in(&BTreeSet::from([0]), value, &mut MAX_DROP_STEPS.clone());
        }
    }

    fn drop_in(&self, start: &BTreeSet<usize>, value: &mut Value, left: &mut usize) {
        if !value.is_object() && !value.is_array() {
            return;
        }
        let mut nodes = start.clone();
        let mut pending: Vec<usize> = start.iter().copied().collect();
        while let Some(node) = pending.pop() {
            pending.extend(self.nodes[node].same.iter().filter(|same| nodes.insert(**same)));
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
                        self.drop_in(&inside, member, left);
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
                    self.drop_in(&inside, item, left);
                }
            }
            _ => {}
        }
    }
}

struct Finder<'r, 's, 'v> {
    references: &'r References<'s>,
    nulls: NullTest,
    places: NullPlaces,
    /// Nodes by the address of their subschema, which outlives the search.
    known: BTreeMap<*const Value, usize>,
    pending: Vec<(usize, &'v Value)>,
}

impl<'s: 'v, 'v> Finder<'_, 's, 'v> {
    fn node(&mut self, schema: &'v Value) -> usize {
        *self.known.entry(schema).or_insert_with(|| {
            self.places.nodes.push(Node::default());
            self.pending.push((self.places.nodes.len() - 1, schema));
            self.places.nodes.len() - 1
        })
    }

    fn look(&mut self, index: usize, schema: &'v Value) {
        let Some(keywords) = schema.as_object() else { return };
        let mut node = Node::default();
        if let Some((_, target)) = self.references.resolve_in(schema) {
            node.same.push(self.node(target));
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for part in keywords.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                node.same.push(self.node(part));
            }
        }
        let required = required_fields(keywords);
        let fields = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, field) in fields {
            let nullable = may_be_absent(&required, name, field)
                && !self.nulls.takes_null(self.references, field);
            node.by_name.insert(name.clone(), node.fields.len());
            node.fields.push((name.clone(), nullable, self.node(field)));
        }
        let listed = keywords.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        for items in keywords.get("items").into_iter().chain(listed) {
            node.items.push(self.node(items));
        }
        self.places.nodes[index] = node;
    }
}

#[derive(Default)]
struct Listing {
    found: Vec<String>,
    seen: BTreeSet<String>,
    /// How often each node is on the way here.
    passed: BTreeMap<usize, usize>,
    left: usize,
}

impl Listing {
    fn walk(&mut self, places: &NullPlaces, node: usize, at: &str) {
        if self.left == 0 || self.found.len() >= MAX_LISTED {
            return;
        }
        self.left -= 1;
        let rounds = self.passed.entry(node).or_default();
        if *rounds >= ROUNDS {
            return;
        }
        *rounds += 1;
        let Node { same, fields, items, .. } = &places.nodes[node];
        for same in same {
            self.walk(places, *same, at);
        }
        for (name, nullable, field) in fields {
            let inside = json::child(at, name);
            if *nullable && self.found.len() < MAX_LISTED && self.seen.insert(inside.clone()) {
                self.found.push(inside.clone());
            }
            self.walk(places, *field, &inside);
        }
        for item in items {
            self.walk(places, *item, &format!("{at}/*"));
        }
        if let Some(rounds) = self.passed.get_mut(&node) {
            *rounds -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Schema;
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
        let references = References::new(&root);
        for schema in schemas.as_array().unwrap() {
            let whole = crate::contract::sample::standing_alone(&root, schema);
            let expected = Schema::compile(whole).unwrap().is_valid(&Value::Null);
            let found = NullTest::default().takes_null(&references, schema);
            assert_eq!(found, expected, "{schema}");
        }
    }

    #[test]
    fn nulls_are_dropped_at_any_depth() {
        let root = json!({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {
            "v": {"type": "integer"}, "next": {"$ref": "#/$defs/n", "type": "object"},
            "free": {}, "list": {"items": {"$ref": "#/$defs/n"}, "type": "array"}
        }}}});
        let references = References::new(&root);
        let places = NullPlaces::find(&references, &root);
        let nested = |levels: usize, leaf: Value| {
            (0..levels).fold(leaf, |inner, _| json!({"free": null, "next": inner}))
        };
        let mut value = nested(40, json!({"v": null, "list": [{"v": null, "next": null}]}));
        places.drop_nulls(&mut value);
        assert_eq!(value, nested(40, json!({"list": [{}]})));
        assert!(places.list().contains(&"/next/next/v".to_owned()));
    }
}
