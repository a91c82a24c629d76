//! Declared defaults, filled in before validation.
//!
//! A schema may demand a field and declare its default in one breath (the agents of a protocol
//! do): such a value is valid only when the default is put in first. Defaults are taken from
//! `properties`, `items`, `allOf` and local references; never from a branch that may not apply.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json;

/// The defaults of a schema, laid out along its values. Nodes without any are left out.
#[derive(Debug, Clone)]
pub(super) struct Defaults {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Default)]
struct Node {
    fields: Vec<Field>,
    items: Option<usize>,
}

#[derive(Debug, Clone)]
struct Field {
    name: String,
    default: Option<Value>,
    inside: Option<usize>,
}

/// The node of the root.
const ROOT: usize = 0;

impl Defaults {
    /// Lays out the defaults of a schema.
    pub(super) fn of(schema: &Value) -> Self {
        let mut layout = Layout { root: schema, nodes: Vec::new(), known: BTreeMap::new() };
        layout.node(schema, "");
        let mut nodes = layout.nodes;
        prune(&mut nodes);
        Self { nodes }
    }

    /// Fills in what is missing; gives the pointers of what was added.
    pub(super) fn fill(&self, value: &mut Value) -> Vec<String> {
        let mut added = Vec::new();
        self.fill_node(ROOT, value, &mut String::new(), &mut added);
        added
    }

    fn fill_node(&self, node: usize, value: &mut Value, at: &mut String, added: &mut Vec<String>) {
        let node = &self.nodes[node];
        let length = at.len();
        match value {
            Value::Object(members) => {
                for field in &node.fields {
                    if let Some(default) = &field.default
                        && !members.contains_key(&field.name)
                    {
                        members.insert(field.name.clone(), default.clone());
                        added.push(json::child(at, &field.name));
                    }
                    let Some(inside) = field.inside else { continue };
                    if let Some(member) = members.get_mut(&field.name) {
                        json::push(at, &field.name);
                        self.fill_node(inside, member, at, added);
                        at.truncate(length);
                    }
                }
            }
            Value::Array(items) => {
                let Some(inside) = node.items else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    json::push(at, &index.to_string());
                    self.fill_node(inside, item, at, added);
                    at.truncate(length);
                }
            }
            _ => {}
        }
    }
}

struct Layout<'s> {
    root: &'s Value,
    nodes: Vec<Node>,
    /// Nodes by the pointer of their schema, so that recursion ends.
    known: BTreeMap<String, usize>,
}

impl<'s> Layout<'s> {
    fn node(&mut self, schema: &'s Value, pointer: &str) -> usize {
        if let Some(node) = self.known.get(pointer) {
            return *node;
        }
        let node = self.nodes.len();
        self.nodes.push(Node::default());
        self.known.insert(pointer.to_owned(), node);
        self.lay(node, schema, pointer, 0);
        node
    }

    /// Adds what one schema object says to a node; references and `allOf` say it of the same value.
    fn lay(&mut self, node: usize, schema: &'s Value, pointer: &str, depth: usize) {
        if depth > 16 {
            return;
        }
        if let Some(target) = local_reference(schema)
            && let Some(referred) = self.root.pointer(&target)
        {
            self.lay(node, referred, &target, depth + 1);
        }
        for (index, part) in
            schema.get("allOf").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            self.lay(node, part, &format!("{pointer}/allOf/{index}"), depth + 1);
        }
        for (name, field) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            let at = json::child(&format!("{pointer}/properties"), name);
            let inside = Some(self.node(field, &at));
            let default = field.get("default").cloned();
            self.nodes[node].fields.push(Field { name: name.clone(), default, inside });
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            let inside = self.node(items, &format!("{pointer}/items"));
            self.nodes[node].items = Some(inside);
        }
    }
}

/// The pointer of `"$ref": "#/…"`.
fn local_reference(schema: &Value) -> Option<String> {
    let reference = schema.get("$ref")?.as_str()?;
    reference.strip_prefix('#').map(str::to_owned)
}

/// Cuts the ways that lead to no default, so that filling walks only where there is work.
fn prune(nodes: &mut [Node]) {
    let mut useful = vec![false; nodes.len()];
    loop {
        let before = useful.clone();
        for (index, node) in nodes.iter().enumerate() {
            let leads = |inside: &Option<usize>| inside.is_some_and(|inside| before[inside]);
            useful[index] = leads(&node.items)
                || node.fields.iter().any(|field| field.default.is_some() || leads(&field.inside));
        }
        if useful == before {
            break;
        }
    }
    for node in nodes.iter_mut() {
        node.items = node.items.filter(|inside| useful[*inside]);
        for field in &mut node.fields {
            field.inside = field.inside.filter(|inside| useful[*inside]);
        }
        node.fields.retain(|field| field.default.is_some() || field.inside.is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: Value, mut value: Value, filled: Value, added: &[&str]) {
        let pointers = Defaults::of(&schema).fill(&mut value);
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
}
