//! Decides whether alternatives exclude each other: by their types, by a discriminator field, or by
//! set algebra if there are few of them.

use std::collections::BTreeSet;

use countersign_contract::contract::ReferenceResolver;
use serde_json::{Map, Value, json};

use super::schema_set::are_pairwise_disjoint;

/// The branches of a `oneOf`, with the keywords beside it.
#[derive(Debug)]
pub(crate) struct OneOfBranches<'b, 's> {
    /// The resolver of the document that the branches belong to.
    pub(crate) references: &'b ReferenceResolver<'s>,
    /// The branches of the `oneOf`.
    pub(crate) alternatives: &'b [Value],
    /// The keywords beside the `oneOf`, which apply to every branch.
    pub(crate) beside: &'b Map<String, Value>,
}

/// Returns whether no value is valid against two of the branches; false if this is not proven.
pub(crate) fn are_mutually_exclusive(checked: &OneOfBranches<'_, '_>) -> bool {
    let OneOfBranches { references, alternatives: branches, beside } = checked;
    let read: Option<Vec<Map<String, Value>>> =
        branches.iter().map(|branch| resolve_branch(references, branch)).collect();
    if read.is_some_and(|read| have_distinct_types(&read) || has_discriminator(&read, beside)) {
        return true;
    }
    let whole: Vec<Value> =
        branches
            .iter()
            .take(9)
            .map(|branch| {
                if beside.is_empty() { branch.clone() } else { json!({"allOf": [beside, branch]}) }
            })
            .collect();
    whole.len() == branches.len() && are_pairwise_disjoint(references.root(), &whole)
}

/// Returns the keywords of a branch, following references that have no other keywords beside them.
fn resolve_branch(
    references: &ReferenceResolver<'_>,
    branch: &Value,
) -> Option<Map<String, Value>> {
    let mut schema = branch;
    for _ in 0..8 {
        let keywords = schema.as_object()?;
        match references.resolve_in(schema) {
            Some((_, target)) if keywords.len() == 1 => schema = target,
            _ => {
                // A branch that also refers elsewhere is at least as narrow as its own keywords.
                let of_interest = ["type", "required", "properties", "const", "enum"];
                let kept = keywords.iter().filter(|(name, _)| of_interest.contains(&name.as_str()));
                return Some(kept.map(|(name, said)| (name.clone(), said.clone())).collect());
            }
        }
    }
    None
}

/// Returns whether no two branches share a type.
fn have_distinct_types(branches: &[Map<String, Value>]) -> bool {
    let mut seen = BTreeSet::new();
    branches.iter().all(|branch| {
        let names: Vec<&str> = match branch.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => return false,
        };
        let name = |name: &str| if name == "integer" { "number" } else { name }.to_owned();
        // One branch may name both number types.
        let own: BTreeSet<String> = names.into_iter().map(name).collect();
        own.into_iter().all(|name| seen.insert(name))
    })
}

/// Returns whether a field is required in every branch and has different values in each.
fn has_discriminator(branches: &[Map<String, Value>], beside: &Map<String, Value>) -> bool {
    let is_object = |schema: &Map<String, Value>| schema.get("type") == Some(&json!("object"));
    let Some((first, _)) = branches.split_first() else { return false };
    if !is_object(beside) && !branches.iter().all(is_object) {
        return false;
    }
    let demanded = |schema: &Map<String, Value>, name: &str| {
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        names.into_iter().any(|one| one == name)
    };
    let fields = first.get("properties").and_then(Value::as_object).into_iter().flatten();
    // Discriminator fields come early, and there are few of them.
    let mut candidates = fields.filter(|(_, field)| list_string_values(field).is_some()).take(16);
    candidates.any(|(name, _)| {
        let mut seen = BTreeSet::new();
        branches.iter().all(|branch| {
            let field = branch.get("properties").and_then(|fields| fields.get(name));
            (demanded(branch, name) || demanded(beside, name))
                && field.and_then(list_string_values).is_some_and(|values| {
                    let own: BTreeSet<String> =
                        values.iter().map(|value| value.to_string()).collect();
                    own.into_iter().all(|value| seen.insert(value))
                })
        })
    })
}

/// Returns the values that a field may have, if they are listed and all strings.
fn list_string_values(field: &Value) -> Option<Vec<&Value>> {
    let values = match (field.get("const"), field.get("enum")) {
        (Some(value), _) => vec![value],
        (None, Some(Value::Array(values))) => values.iter().collect(),
        _ => return None,
    };
    values.iter().all(|value| value.is_string()).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a case reads better without ampersands")]
    fn disjoint(branches: Value) -> bool {
        let root = json!({});
        let references = ReferenceResolver::new(&root);
        let (beside, branches) = (Map::new(), branches.as_array().unwrap());
        are_mutually_exclusive(&OneOfBranches {
            references: &references,
            alternatives: branches,
            beside: &beside,
        })
    }

    #[test]
    fn many_branches_are_told_apart_by_the_field_that_names_them() {
        let branch = |number: usize| json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": format!("k{number}")}}});
        let mut many: Vec<Value> = (0..500).map(branch).collect();
        assert!(disjoint(json!(many)));
        many[7] = many[8].clone();
        assert!(!disjoint(json!(many)));
        // Without a type, every value except an object is valid against each of them.
        many = (0..20).map(branch).collect();
        many[3].as_object_mut().unwrap().remove("type");
        assert!(!disjoint(json!(many)));
    }

    #[test]
    fn types_tell_branches_apart() {
        assert!(disjoint(json!([{"type": "string"}, {"type": ["integer", "null"]}])));
        assert!(!disjoint(json!([{"type": "number"}, {"type": "integer"}])));
    }
}
