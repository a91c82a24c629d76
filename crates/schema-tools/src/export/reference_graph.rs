//! Finds the recursive definitions of a schema.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::contract::{DATA_KEYWORDS, ReferenceResolver};
use serde_json::Value;

/// Returns the pointers of the recursive definitions, found in one pass by Tarjan's algorithm for
/// strongly connected components, implemented without recursion.
pub(super) fn find_recursive_definitions(references: &ReferenceResolver<'_>) -> BTreeSet<String> {
    let mut graph = ReferenceGraph::default();
    let mut pending = list_direct_targets(references, references.root());
    while let Some(pointer) = pending.pop() {
        if graph.targets.contains_key(&pointer) {
            continue;
        }
        let schema = references.root().pointer(&pointer);
        let targets =
            schema.map(|schema| list_direct_targets(references, schema)).unwrap_or_default();
        pending.extend(targets.iter().cloned());
        graph.targets.insert(pointer, targets);
    }
    graph.add_enclosing();
    graph.find_cycles()
}

/// Returns the targets of the references inside a schema, each once.
fn list_direct_targets(references: &ReferenceResolver<'_>, schema: &Value) -> Vec<String> {
    let mut found = BTreeSet::new();
    collect_targets(references, schema, &mut found);
    found.into_iter().collect()
}

fn collect_targets(
    references: &ReferenceResolver<'_>,
    schema: &Value,
    into: &mut BTreeSet<String>,
) {
    match schema {
        Value::Object(members) => {
            into.extend(references.resolve_in(schema).map(|(pointer, _)| pointer));
            for (name, member) in members {
                if !DATA_KEYWORDS.contains(&name.as_str()) {
                    collect_targets(references, member, into);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                collect_targets(references, item, into);
            }
        }
        _ => {}
    }
}

#[derive(Default)]
struct ReferenceGraph {
    targets: BTreeMap<String, Vec<String>>,
}

/// The state of a definition during the search.
#[derive(Clone, Copy)]
struct TarjanVisit {
    index: usize,
    low_link: usize,
    on_stack: bool,
}

impl ReferenceGraph {
    /// Adds an edge from each definition to the definitions inside it, because they are written
    /// with it.
    fn add_enclosing(&mut self) {
        let pointers: Vec<String> = self.targets.keys().cloned().collect();
        for pointer in &pointers {
            let mut outer = pointer.as_str();
            while let Some(slash) = outer.rfind('/') {
                outer = &outer[..slash];
                if let Some(targets) = self.targets.get_mut(outer) {
                    targets.push(pointer.clone());
                }
            }
        }
    }

    fn find_cycles(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut visits: BTreeMap<&str, TarjanVisit> = BTreeMap::new();
        let mut open: Vec<&str> = Vec::new();
        for start in self.targets.keys() {
            if visits.contains_key(start.as_str()) {
                continue;
            }
            let mut stack: Vec<(&str, usize)> = vec![(start, 0)];
            while let Some((node, next)) = stack.pop() {
                if next == 0 {
                    let order = visits.len();
                    visits.insert(
                        node,
                        TarjanVisit { index: order, low_link: order, on_stack: true },
                    );
                    open.push(node);
                }
                let targets = &self.targets[node];
                if let Some(target) = targets.get(next) {
                    stack.push((node, next + 1));
                    match visits.get(target.as_str()).copied() {
                        None => stack.push((target, 0)),
                        Some(seen) if seen.on_stack => update_lowest(&mut visits, node, seen.index),
                        Some(_) => {}
                    }
                    continue;
                }
                let TarjanVisit { index: order, low_link: lowest, .. } = visits[node];
                if let Some((parent, _)) = stack.last() {
                    update_lowest(&mut visits, parent, lowest);
                }
                if order == lowest {
                    let mut component = Vec::new();
                    while let Some(member) = open.pop() {
                        if let Some(visit) = visits.get_mut(member) {
                            visit.on_stack = false;
                        }
                        component.push(member);
                        if member == node {
                            break;
                        }
                    }
                    if component.len() > 1 || targets.iter().any(|target| target == node) {
                        found.extend(component.into_iter().map(str::to_owned));
                    }
                }
            }
        }
        found
    }
}

fn update_lowest(visits: &mut BTreeMap<&str, TarjanVisit>, node: &str, order: usize) {
    if let Some(visit) = visits.get_mut(node) {
        visit.low_link = visit.low_link.min(order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_leads_back_to_itself_is_recursive() {
        let to = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
        let root = json!({
            "properties": {"a": to("a"), "tree": to("tree"), "odd": to("odd")},
            "$defs": {
                "a": {"items": to("b")},
                "b": {"type": "null"},
                "tree": {"properties": {"left": to("tree")}},
                "odd": {"properties": {"next": to("even")}},
                "even": {"allOf": [to("odd"), to("b")]},
                "between": {"items": [to("tree"), to("odd")]},
                "outer": {"properties": {"inner": {"$ref": "#/$defs/outer/$defs/in"}}, "$defs": {"in": to("outer")}}
            },
            "items": [to("between"), to("outer")]
        });
        let found = find_recursive_definitions(&ReferenceResolver::new(&root));
        let expected =
            ["/$defs/even", "/$defs/odd", "/$defs/outer", "/$defs/outer/$defs/in", "/$defs/tree"];
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }
}
