//! Checks the size limits of a schema before the engine compiles it.
//!
//! Size and nesting limit the work of compiling. The number of subschemas that apply to one value,
//! and the length of reference chains, limit the work and the stack of every validation.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reference_resolver::{DATA_KEYWORDS, ReferenceResolver};
use super::schema::SchemaError;
use crate::json;
use crate::limits::{MAX_DEPTH, MAX_SCHEMA_CHAIN, MAX_SCHEMA_CHECKS_PER_VALUE, MAX_SCHEMA_VALUES};

/// Refuses a schema that exceeds the limits.
pub(super) fn check_bounds(schema: &Value) -> Result<(), SchemaError> {
    let mut left = MAX_SCHEMA_VALUES;
    check_size(schema, &mut String::new(), 0, &mut left)?;
    let references = ReferenceResolver::new(schema);
    let mut chains = SubschemaCostWalker { references: &references, costs: BTreeMap::new() };
    chains.check_costs(schema, &mut String::new())
}

fn check_size(
    value: &Value,
    at: &mut String,
    depth: usize,
    left: &mut usize,
) -> Result<(), SchemaError> {
    let fault =
        |pointer: &str, message: String| Err(SchemaError { pointer: pointer.to_owned(), message });
    if *left == 0 {
        return fault("", format!("the schema has more than {MAX_SCHEMA_VALUES} values"));
    }
    *left -= 1;
    if depth > MAX_DEPTH {
        return fault(at, format!("the schema is nested deeper than {MAX_DEPTH} levels"));
    }
    let length = at.len();
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                json::push_segment(at, name);
                check_size(member, at, depth + 1, left)?;
                at.truncate(length);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                json::push_segment(at, &index.to_string());
                check_size(item, at, depth + 1, left)?;
                at.truncate(length);
            }
        }
        _ => {}
    }
    Ok(())
}

/// The cost of validating one value against a subschema.
#[derive(Debug, Clone, Copy)]
struct SubschemaCost {
    /// The number of subschemas that apply to the value.
    checks: usize,
    /// The length of the longest chain of references and combinations.
    chain: usize,
}

struct SubschemaCostWalker<'r, 's> {
    references: &'r ReferenceResolver<'s>,
    /// Costs by the address of the subschema; `None` while a subschema is being counted.
    costs: BTreeMap<*const Value, Option<SubschemaCost>>,
}

impl<'s> SubschemaCostWalker<'_, 's> {
    fn check_costs(&mut self, schema: &'s Value, at: &mut String) -> Result<(), SchemaError> {
        let length = at.len();
        match schema {
            Value::Object(members) => {
                let cost = self.count_checks(schema, 0);
                let message = match cost {
                    SubschemaCost { chain, .. } if chain > MAX_SCHEMA_CHAIN => format!(
                        "more than {MAX_SCHEMA_CHAIN} references or combinations are chained here"
                    ),
                    SubschemaCost { checks, .. } if checks > MAX_SCHEMA_CHECKS_PER_VALUE => {
                        format!(
                            "more than {MAX_SCHEMA_CHECKS_PER_VALUE} subschemas apply to one value here"
                        )
                    }
                    _ => String::new(),
                };
                if !message.is_empty() {
                    return Err(SchemaError { pointer: at.clone(), message });
                }
                for (name, member) in members {
                    if !DATA_KEYWORDS.contains(&name.as_str()) {
                        json::push_segment(at, name);
                        self.check_costs(member, at)?;
                        at.truncate(length);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    json::push_segment(at, &index.to_string());
                    self.check_costs(item, at)?;
                    at.truncate(length);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts the subschemas that apply to the same value. A cycle back to a subschema that is
    /// being counted adds nothing.
    fn count_checks(&mut self, schema: &'s Value, depth: usize) -> SubschemaCost {
        let nothing = SubschemaCost { checks: 0, chain: 0 };
        if depth > MAX_SCHEMA_CHAIN {
            return SubschemaCost { checks: 0, chain: MAX_SCHEMA_CHAIN + 1 };
        }
        if let Some(known) = self.costs.get(&std::ptr::from_ref(schema)) {
            return known.unwrap_or(nothing);
        }
        self.costs.insert(schema, None);
        let mut cost = SubschemaCost { checks: 1, chain: 0 };
        for part in find_in_place_subschemas(self.references, schema) {
            let SubschemaCost { checks, chain } = self.count_checks(part, depth + 1);
            cost.checks = cost.checks.saturating_add(checks);
            cost.chain = cost.chain.max(chain.saturating_add(1));
        }
        self.costs.insert(schema, Some(cost));
        cost
    }
}

/// Returns the subschemas that apply to the same value as this one.
pub(super) fn find_in_place_subschemas<'s>(
    references: &ReferenceResolver<'s>,
    schema: &'s Value,
) -> Vec<&'s Value> {
    let Some(members) = schema.as_object() else { return Vec::new() };
    let mut parts = Vec::new();
    for (keyword, said) in members {
        match (keyword.as_str(), said) {
            ("$ref" | "$dynamicRef", Value::String(target)) => {
                parts.extend(references.resolve(target).map(|(_, target)| target));
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => parts.extend(items),
            ("not" | "if" | "then" | "else", part) => parts.push(part),
            ("dependentSchemas" | "dependencies", Value::Object(by_name)) => {
                parts.extend(by_name.values());
            }
            _ => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(schema: &Value) -> String {
        check_bounds(schema).unwrap_err().message
    }

    #[test]
    fn deep_and_large_schemas_are_refused() {
        let deep = (0..200).fold(json!({}), |inner, _| json!({"items": inner}));
        assert_eq!(refused(&deep), "the schema is nested deeper than 128 levels");
        let large = json!({"enum": (0..=MAX_SCHEMA_VALUES).collect::<Vec<_>>()});
        assert!(refused(&large).starts_with("the schema has more than"));
    }

    #[test]
    fn long_rows_of_references_are_refused_and_cycles_are_not() {
        let link = |number: usize| json!({"$ref": format!("#/$defs/{}", number + 1)});
        let mut defs: serde_json::Map<String, Value> =
            (0..5000).map(|number| (number.to_string(), link(number))).collect();
        defs.insert("5000".to_owned(), json!({}));
        assert!(
            refused(&json!({"$defs": defs})).contains("references or combinations are chained")
        );
        check_bounds(&json!({"allOf": [{"$ref": "#"}, {"type": "object"}]})).unwrap();
    }

    #[test]
    fn doubled_references_are_refused() {
        let twice = |number: usize| {
            let next = json!({"$ref": format!("#/$defs/{}", number + 1)});
            json!({"allOf": [next, next]})
        };
        let mut defs: serde_json::Map<String, Value> =
            (0..24).map(|number| (number.to_string(), twice(number))).collect();
        defs.insert("24".to_owned(), json!({}));
        assert!(refused(&json!({"$defs": defs})).contains("subschemas apply to one value"));
    }
}
