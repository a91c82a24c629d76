//! Collects declared defaults and fills them in before validation.
//!
//! A schema may require a field and also declare its default, as the schema for the agents of a
//! protocol does; such a value is valid only after the default is filled in. Defaults are taken
//! from `properties`, `items`, `allOf` and local references, never from a branch that may not
//! apply.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::default_check::{DeclaredDefault, find_broken_defaults};
use super::reference_resolver::ReferenceResolver;
use super::schema::SchemaError;
use crate::json::{self, count_bytes};
use crate::limits::{self, MAX_DEFAULT_BYTES};

/// The maximum length of a chain of references and `allOf` for one value.
const MAX_REFERENCE_DEPTH: usize = 64;
/// The maximum number of nodes, that is, of locations that a schema distinguishes in its values.
const MAX_NODES: usize = 100_000;
/// The maximum number of subschemas over all nodes.
const MAX_PARTS: usize = 400_000;
/// The maximum number of nodes visited inside one default; a default that needs more does not
/// terminate.
const MAX_DEFAULT_NODES: usize = 10_000;
/// The maximum number of nodes visited inside all defaults together.
const MAX_ALL_DEFAULT_NODES: usize = 1_000_000;

/// The defaults of a schema as a tree along its values. Nodes without defaults are left out.
#[derive(Debug, Clone)]
pub(super) struct SchemaDefaults {
    nodes: Vec<DefaultNode>,
    /// The defaults that are invalid in their own schema. They are never filled in.
    pub(super) broken: Vec<BrokenDefault>,
}

/// A default that is invalid in its own schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenDefault {
    /// The JSON Pointer of the default in the schema.
    pub pointer: String,
    /// A description of the fault.
    pub message: String,
}

#[derive(Debug, Clone, Default)]
struct DefaultNode {
    fields: Vec<DefaultField>,
    items: Option<usize>,
}

#[derive(Debug, Clone)]
struct DefaultField {
    name: String,
    /// The pointer of the schema that declares the default.
    schema: String,
    default: Option<Value>,
    node: Option<usize>,
}

/// The result of filling in defaults.
#[derive(Debug, Default)]
pub(super) struct FilledDefaults {
    /// The pointers of the added fields, outer ones first.
    pub(super) added: Vec<String>,
    /// Whether filling stopped at [`MAX_DEFAULT_BYTES`].
    pub(super) is_truncated: bool,
    bytes: usize,
}

/// The index of the root node.
const ROOT_NODE: usize = 0;

impl SchemaDefaults {
    /// Collects the defaults of a schema. A default that contains itself is refused.
    pub(super) fn from_schema(schema: &Value) -> Result<Self, SchemaError> {
        if !declares_default(schema) {
            return Ok(Self { nodes: vec![DefaultNode::default()], broken: Vec::new() });
        }
        let mut nodes = SchemaDefaultsBuilder::from_schema(schema)?.nodes;
        prune_nodes(&mut nodes);
        let mut defaults = Self { nodes, broken: Vec::new() };
        let mut left = MAX_ALL_DEFAULT_NODES;
        let fault = |field: &DefaultField, message: String| {
            let pointer = format!("{}/default", field.schema);
            Err(SchemaError { pointer, message })
        };
        let mut declared: BTreeMap<String, DeclaredDefault> = BTreeMap::new();
        let mut room = 8 * MAX_DEFAULT_BYTES;
        for field in defaults.nodes.iter().flat_map(|node| &node.fields) {
            let Some(default) = &field.default else { continue };
            let mut filled = default.clone();
            if let Some(inside) = field.node {
                let mut own = MAX_DEFAULT_NODES.min(left);
                let budget = own;
                if !defaults.terminates(inside, default, 0, &mut own) {
                    let message = "this default contains itself, so filling it in never ends";
                    return fault(field, message.to_owned());
                }
                left -= budget - own;
                let mut gained = FilledDefaults::default();
                defaults.fill_node(inside, &mut filled, &mut String::new(), &mut gained);
                room = room.saturating_sub(gained.bytes);
                if gained.is_truncated || count_bytes(&filled) > MAX_DEFAULT_BYTES || room == 0 {
                    return fault(
                        field,
                        format!(
                            "this default adds more than {MAX_DEFAULT_BYTES} bytes with the defaults inside it"
                        ),
                    );
                }
            }
            declared
                .entry(field.schema.clone())
                .or_insert_with(|| DeclaredDefault { as_declared: default.clone(), filled });
        }
        defaults.drop_broken(find_broken_defaults(schema, &declared));
        Ok(defaults)
    }

    /// Drops the defaults that are invalid.
    fn drop_broken(&mut self, broken: Vec<BrokenDefault>) {
        if broken.is_empty() {
            return;
        }
        let pointers: BTreeSet<&str> = broken.iter().map(|one| one.pointer.as_str()).collect();
        for field in self.nodes.iter_mut().flat_map(|node| &mut node.fields) {
            if pointers.contains(format!("{}/default", field.schema).as_str()) {
                field.default = None;
            }
        }
        prune_nodes(&mut self.nodes);
        self.broken = broken;
    }

    /// Returns whether filling in defaults terminates, without filling them in.
    fn terminates(&self, node: usize, value: &Value, depth: usize, left: &mut usize) -> bool {
        if depth > limits::MAX_DEPTH || *left == 0 {
            return false;
        }
        *left -= 1;
        let node = &self.nodes[node];
        match value {
            Value::Object(members) => node.fields.iter().all(|field| {
                let member = members.get(&field.name).or(field.default.as_ref());
                match (field.node, member) {
                    (Some(inside), Some(member)) => {
                        self.terminates(inside, member, depth + 1, left)
                    }
                    _ => true,
                }
            }),
            Value::Array(items) => node.items.is_none_or(|inside| {
                items.iter().all(|item| self.terminates(inside, item, depth + 1, left))
            }),
            _ => true,
        }
    }

    /// Fills in missing fields until the value has gained [`MAX_DEFAULT_BYTES`].
    pub(super) fn fill(&self, value: &mut Value) -> FilledDefaults {
        let mut filled = FilledDefaults::default();
        self.fill_node(ROOT_NODE, value, &mut String::new(), &mut filled);
        filled
    }

    fn fill_node(
        &self,
        node: usize,
        value: &mut Value,
        at: &mut String,
        filled: &mut FilledDefaults,
    ) {
        let node = &self.nodes[node];
        let length = at.len();
        match value {
            Value::Object(members) => {
                for field in &node.fields {
                    if let Some(default) = &field.default
                        && !members.contains_key(&field.name)
                    {
                        filled.bytes += at.len() + 2 * field.name.len() + count_bytes(default);
                        filled.is_truncated |= filled.bytes > MAX_DEFAULT_BYTES;
                        if filled.is_truncated {
                            return;
                        }
                        members.insert(field.name.clone(), default.clone());
                        filled.added.push(json::child_pointer(at, &field.name));
                    }
                    let Some(inside) = field.node else { continue };
                    if let Some(member) = members.get_mut(&field.name) {
                        json::push_segment(at, &field.name);
                        self.fill_node(inside, member, at, filled);
                        at.truncate(length);
                    }
                }
            }
            Value::Array(items) => {
                let Some(inside) = node.items else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    if filled.is_truncated {
                        return;
                    }
                    json::push_segment(at, &index.to_string());
                    self.fill_node(inside, item, at, filled);
                    at.truncate(length);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a schema declares a default anywhere.
fn declares_default(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.contains_key("default") || members.values().any(declares_default)
        }
        Value::Array(items) => items.iter().any(declares_default),
        _ => false,
    }
}

/// A schema with its pointer.
type LocatedSchema<'s> = (String, &'s Value);

struct SchemaDefaultsBuilder<'s> {
    references: ReferenceResolver<'s>,
    part_count: usize,
    nodes: Vec<DefaultNode>,
    /// Node indices by the pointers of the schemas that apply to the node, so that recursion ends.
    node_ids: BTreeMap<Vec<String>, usize>,
    /// Nodes that are known but not built yet.
    pending: Vec<(usize, Vec<LocatedSchema<'s>>)>,
}

impl<'s> SchemaDefaultsBuilder<'s> {
    fn from_schema(root: &'s Value) -> Result<Self, SchemaError> {
        let (nodes, known, pending) = (Vec::new(), BTreeMap::new(), Vec::new());
        let references = ReferenceResolver::new(root);
        let mut layout = Self { references, part_count: 0, nodes, node_ids: known, pending };
        layout.intern_node(vec![(String::new(), root)]);
        while let Some((node, parts)) = layout.pending.pop() {
            if layout.nodes.len() > MAX_NODES || layout.part_count > MAX_PARTS {
                let message = format!("more than {MAX_NODES} locations may have defaults");
                return Err(SchemaError { pointer: String::new(), message });
            }
            layout.build_node(node, parts);
        }
        Ok(layout)
    }

    /// Returns the node for these schemas. Equal sets of schemas share one node.
    fn intern_node(&mut self, parts: Vec<LocatedSchema<'s>>) -> usize {
        let mut key: Vec<String> = parts.iter().map(|(pointer, _)| pointer.clone()).collect();
        key.sort();
        *self.node_ids.entry(key).or_insert_with(|| {
            self.nodes.push(DefaultNode::default());
            self.pending.push((self.nodes.len() - 1, parts));
            self.nodes.len() - 1
        })
    }

    fn build_node(&mut self, node: usize, parts: Vec<LocatedSchema<'s>>) {
        let (mut meeting, mut seen) = (Vec::new(), BTreeSet::new());
        for part in parts {
            self.collect_in_place(part, 0, &mut seen, &mut meeting);
        }
        self.part_count += meeting.len();
        let mut names: Vec<&'s str> = Vec::new();
        let mut fields: BTreeMap<&'s str, Vec<LocatedSchema<'s>>> = BTreeMap::new();
        let mut items = Vec::new();
        for (pointer, schema) in meeting {
            for (name, field) in
                schema.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                let part = (json::child_pointer(&format!("{pointer}/properties"), name), field);
                let parts = fields.entry(name).or_default();
                if parts.is_empty() {
                    names.push(name);
                }
                parts.push(part);
            }
            if let Some(schema) = schema.get("items").filter(|items| items.is_object()) {
                items.push((format!("{pointer}/items"), schema));
            }
        }
        for name in names {
            let parts = fields.remove(name).unwrap_or_default();
            let default = parts.iter().find(|(_, field)| field.get("default").is_some());
            let schema = default.map(|(pointer, _)| pointer.clone()).unwrap_or_default();
            let default = default.map(|(_, field)| field["default"].clone());
            let inside = Some(self.intern_node(parts));
            self.nodes[node].fields.push(DefaultField {
                name: name.to_owned(),
                schema,
                default,
                node: inside,
            });
        }
        if !items.is_empty() {
            self.nodes[node].items = Some(self.intern_node(items));
        }
    }

    /// Collects the schemas that apply to one value: the target of a reference, `allOf`, then the
    /// schema itself.
    fn collect_in_place(
        &self,
        (pointer, schema): LocatedSchema<'s>,
        depth: usize,
        seen: &mut BTreeSet<String>,
        meeting: &mut Vec<LocatedSchema<'s>>,
    ) {
        if depth > MAX_REFERENCE_DEPTH || !seen.insert(pointer.clone()) {
            return;
        }
        if let Some(target) = self.references.resolve_in(schema) {
            self.collect_in_place(target, depth + 1, seen, meeting);
        }
        for (index, part) in
            schema.get("allOf").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            self.collect_in_place(
                (format!("{pointer}/allOf/{index}"), part),
                depth + 1,
                seen,
                meeting,
            );
        }
        meeting.push((pointer, schema));
    }
}

/// Removes the paths that lead to no default, so that filling visits only nodes with work.
fn prune_nodes(nodes: &mut [DefaultNode]) {
    let mut leading: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut useful = vec![false; nodes.len()];
    let mut pending = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        for inside in node.items.into_iter().chain(node.fields.iter().filter_map(|one| one.node)) {
            leading[inside].push(index);
        }
        if node.fields.iter().any(|field| field.default.is_some()) {
            useful[index] = true;
            pending.push(index);
        }
    }
    while let Some(index) = pending.pop() {
        for outer in &leading[index] {
            if !std::mem::replace(&mut useful[*outer], true) {
                pending.push(*outer);
            }
        }
    }
    for node in nodes.iter_mut() {
        node.items = node.items.filter(|inside| useful[*inside]);
        for field in &mut node.fields {
            field.node = field.node.filter(|inside| useful[*inside]);
        }
        node.fields.retain(|field| field.default.is_some() || field.node.is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "a case reads better without ampersands")]
    fn check(schema: Value, mut value: Value, filled: Value, added: &[&str]) {
        let pointers = SchemaDefaults::from_schema(&schema).unwrap().fill(&mut value).added;
        assert_eq!(value, filled);
        assert_eq!(pointers, added);
    }

    #[test]
    fn missing_fields_are_filled_also_inside_what_was_filled() {
        let schema = json!({"properties": {
            "model": {"default": "inherit"},
            "cues": {"default": {}, "properties": {"tags": {"default": []}}},
            "state": {"properties": {"format": {"default": "single"}}}
        }});
        check(
            schema.clone(),
            json!({}),
            json!({"model": "inherit", "cues": {"tags": []}}),
            &["/model", "/cues", "/cues/tags"],
        );
        check(
            schema,
            json!({"model": null, "cues": 1, "state": {}}),
            json!({"model": null, "cues": 1, "state": {"format": "single"}}),
            &["/state/format"],
        );
    }

    #[test]
    fn items_references_and_recursion_are_followed() {
        let schema = json!({
            "properties": {"nodes": {"items": {"$ref": "#/$defs/node"}}},
            "$defs": {"node": {"properties": {"kind": {"default": "leaf"}, "nodes": {"items": {"$ref": "#/$defs/node"}}}}}
        });
        check(
            schema,
            json!({"nodes": [{}, {"nodes": [{"kind": "x"}, {}]}]}),
            json!({"nodes": [{"kind": "leaf"}, {"nodes": [{"kind": "x"}, {"kind": "leaf"}], "kind": "leaf"}]}),
            &["/nodes/0/kind", "/nodes/1/kind", "/nodes/1/nodes/1/kind"],
        );
    }

    #[test]
    fn branches_that_may_not_apply_fill_nothing() {
        let schema = json!({"if": {}, "then": {"properties": {"a": {"default": 1}}}, "anyOf": [{"properties": {"b": {"default": 1}}}]});
        check(schema, json!({}), json!({}), &[]);
    }

    #[test]
    fn a_default_without_end_is_refused() {
        let message = |schema: Value| SchemaDefaults::from_schema(&schema).unwrap_err().pointer;
        assert_eq!(
            message(json!({"properties": {"a": {"default": {}, "$ref": "#"}}})),
            "/properties/a/default"
        );
        let wide = json!({"properties": {
            "l": {"default": {}, "$ref": "#"}, "r": {"default": [{}], "items": {"$ref": "#"}}
        }});
        assert_eq!(message(wide), "/properties/l/default");
    }

    #[test]
    fn schemas_that_meet_in_one_value_are_walked_once() {
        let to_root = json!({"$ref": "#/$defs/tree"});
        let half = json!({"properties": {"x": to_root, "k": {"default": 1}}});
        let many = vec![json!({"$ref": "#/$defs/half"}); 12];
        let schema = json!({
            "$defs": {"half": half, "tree": {"allOf": [half, {"allOf": many}]}},
            "properties": {"x": to_root}
        });
        let deep =
            |leaf: &Value| (0..60).fold(leaf.clone(), |inner, _| json!({"x": inner, "k": 2}));
        check(
            schema,
            json!({"x": deep(&json!({}))}),
            json!({"x": deep(&json!({"k": 1}))}),
            &[&format!("{}/k", "/x".repeat(61))],
        );
    }

    #[test]
    fn a_value_gains_no_more_than_it_may() {
        let text = "x".repeat(10_000);
        let schema =
            json!({"properties": {"l": {"items": {"properties": {"t": {"default": text}}}}}});
        let defaults = SchemaDefaults::from_schema(&schema).unwrap();
        let mut value = json!({"l": vec![json!({}); 5_000]});
        let filled = defaults.fill(&mut value);
        assert!(filled.is_truncated);
        assert!(count_bytes(&value) < 2 * MAX_DEFAULT_BYTES);
        // A long pointer counts for each default, because the result lists it for each.
        let schema = json!({"additionalProperties": false, "properties": {text.clone(): {"items": {"properties": {"t": {"default": 1}}}}}});
        let filled = SchemaDefaults::from_schema(&schema)
            .unwrap()
            .fill(&mut json!({text: vec![json!({}); 5_000]}));
        assert!(filled.is_truncated && filled.added.len() < 200, "{}", filled.added.len());
    }

    #[test]
    fn a_default_that_multiplies_is_refused_when_it_is_loaded() {
        let inner = json!({"properties": (0..30).map(|number| (format!("f{number}"), json!({"default": "x".repeat(100)}))).collect::<Value>()});
        let level = |inner: Value| {
            json!({"properties": (0..12).map(|number| {
            let mut field = inner.clone();
            field["default"] = json!({});
            (format!("g{number}"), field)
        }).collect::<Value>()})
        };
        let schema = json!({"properties": {"a": {"default": {}, "properties": level(level(level(inner)))["properties"]}}});
        let fault = SchemaDefaults::from_schema(&schema).unwrap_err();
        assert!(fault.message.contains("adds more than"), "{}", fault.message);
    }

    #[test]
    fn a_default_that_does_not_fit_is_left_out() {
        let schema = json!({"$defs": {"colour": {"enum": ["red"]}}, "properties": {
            "a": {"type": "integer", "default": "x"},
            "b": {"$ref": "#/$defs/colour", "default": "blue"},
            "c": {"type": "object", "required": ["d"], "default": {}, "properties": {"d": {"default": 1}}},
            "e ^%": {"type": "string", "default": "good"}
        }});
        let defaults = SchemaDefaults::from_schema(&schema).unwrap();
        let broken: Vec<&str> = defaults.broken.iter().map(|one| one.pointer.as_str()).collect();
        assert_eq!(broken, ["/properties/a/default", "/properties/b/default"]);
        check(schema, json!({}), json!({"c": {"d": 1}, "e ^%": "good"}), &["/c", "/c/d", "/e ^%"]);
    }
}
