//! A schema as a graph, for estimating the cost of a validation in advance.
//!
//! The engine cannot be interrupted. If several subschemas apply to one value and each leads to the
//! same inner subschemas, its work doubles with every level of the value. The walk in this module
//! follows the same paths without validating anything, and stops when it exceeds a number of steps.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reference_resolver::ReferenceResolver;
use super::schema_bounds::find_in_place_subschemas;
use crate::limits::MAX_SCHEMA_CHAIN;

/// The subschemas and the values that they apply to.
#[derive(Debug)]
pub(super) struct SchemaGraph {
    nodes: Vec<SchemaNode>,
}

#[derive(Debug, Default)]
struct SchemaNode {
    /// Subschemas that apply to the same value.
    in_place: Vec<usize>,
    /// Subschemas of declared fields.
    fields: BTreeMap<String, usize>,
    /// Subschemas that may apply to any member.
    members: Vec<usize>,
    /// Subschemas that may apply to any item.
    items: Vec<usize>,
}

impl SchemaGraph {
    /// Builds the graph of a schema.
    pub(super) fn new(root: &Value) -> Self {
        let references = ReferenceResolver::new(root);
        let mut builder = SchemaGraphBuilder {
            references: &references,
            nodes: Vec::new(),
            node_ids: BTreeMap::new(),
            pending: Vec::new(),
        };
        builder.intern_node(root);
        while let Some((index, schema)) = builder.pending.pop() {
            builder.visit_subschema(index, schema);
        }
        Self { nodes: builder.nodes }
    }

    /// Returns an upper bound of the steps that validating the value takes; `None` if it exceeds
    /// `limit`.
    pub(super) fn estimate_steps(&self, value: &Value, limit: u64) -> Option<u64> {
        let mut left = limit;
        self.count_steps(0, value, 0, &mut left).then(|| limit - left)
    }

    fn count_steps(&self, node: usize, value: &Value, chain: usize, left: &mut u64) -> bool {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        let node = &self.nodes[node];
        // A cycle back to the same subschema for the same value adds nothing.
        if chain <= MAX_SCHEMA_CHAIN
            && !node.in_place.iter().all(|same| self.count_steps(*same, value, chain + 1, left))
        {
            return false;
        }
        match value {
            Value::Object(members) => {
                if node.fields.is_empty() && node.members.is_empty() {
                    return true;
                }
                members.iter().all(|(name, member)| {
                    node.fields
                        .get(name)
                        .into_iter()
                        .chain(&node.members)
                        .all(|inside| self.count_steps(*inside, member, 0, left))
                })
            }
            Value::Array(items) if !node.items.is_empty() => items.iter().all(|item| {
                node.items.iter().all(|inside| self.count_steps(*inside, item, 0, left))
            }),
            _ => true,
        }
    }
}

struct SchemaGraphBuilder<'r, 's> {
    references: &'r ReferenceResolver<'s>,
    nodes: Vec<SchemaNode>,
    /// Node indices by the address of their subschema.
    node_ids: BTreeMap<*const Value, usize>,
    pending: Vec<(usize, &'s Value)>,
}

impl<'s> SchemaGraphBuilder<'_, 's> {
    fn intern_node(&mut self, schema: &'s Value) -> usize {
        *self.node_ids.entry(schema).or_insert_with(|| {
            self.nodes.push(SchemaNode::default());
            self.pending.push((self.nodes.len() - 1, schema));
            self.nodes.len() - 1
        })
    }

    fn visit_subschema(&mut self, index: usize, schema: &'s Value) {
        let Some(keywords) = schema.as_object() else { return };
        let mut node = SchemaNode::default();
        for part in find_in_place_subschemas(self.references, schema) {
            node.in_place.push(self.intern_node(part));
        }
        for (keyword, said) in keywords {
            match (keyword.as_str(), said) {
                ("properties", Value::Object(fields)) => {
                    for (name, field) in fields {
                        node.fields.insert(name.clone(), self.intern_node(field));
                    }
                }
                ("patternProperties", Value::Object(fields)) => {
                    for field in fields.values() {
                        node.members.push(self.intern_node(field));
                    }
                }
                ("additionalProperties" | "unevaluatedProperties", part) if part.is_object() => {
                    node.members.push(self.intern_node(part));
                }
                ("items" | "prefixItems", Value::Array(parts)) => {
                    for part in parts {
                        node.items.push(self.intern_node(part));
                    }
                }
                ("items" | "additionalItems" | "unevaluatedItems" | "contains", part)
                    if part.is_object() =>
                {
                    node.items.push(self.intern_node(part));
                }
                _ => {}
            }
        }
        self.nodes[index] = node;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn steps_follow_the_value_and_doubling_is_seen() {
        let list = SchemaGraph::new(&json!({"properties": {"next": {"$ref": "#"}, "v": {}}}));
        let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"next": inner}));
        let steps = |levels: usize| list.estimate_steps(&nested(levels), 10_000).unwrap();
        assert_eq!(steps(40) - steps(20), steps(60) - steps(40));
        let half = json!({"properties": {"next": {"$ref": "#"}}});
        let twice = SchemaGraph::new(&json!({"allOf": [half, half]}));
        assert!(twice.estimate_steps(&nested(4), 10_000).is_some());
        assert!(twice.estimate_steps(&nested(60), 10_000).is_none());
        let own = SchemaGraph::new(&json!({"allOf": [{"$ref": "#"}]}));
        assert!(own.estimate_steps(&json!(1), 10_000).is_some());
    }
}
