//! Counts the alternatives of a schema after multiplying out all keywords that apply to a value.

use std::collections::BTreeMap;

use countersign_contract::contract::{DATA_KEYWORDS, ReferenceResolver};
use serde_json::Value;

/// Counts the alternatives of all subschemas together, up to a limit.
pub(super) fn count_alternatives(schema: &Value, limit: u64) -> u64 {
    let references = ReferenceResolver::new(schema);
    let mut counter = AlternativeCounter { references: &references, known: BTreeMap::new(), limit };
    counter.count_total(schema)
}

struct AlternativeCounter<'r, 's> {
    references: &'r ReferenceResolver<'s>,
    /// Counts by the address of the subschema; 1 while a subschema is being counted.
    known: BTreeMap<*const Value, u64>,
    limit: u64,
}

impl<'s> AlternativeCounter<'_, 's> {
    fn count_total(&mut self, schema: &'s Value) -> u64 {
        let mut total = match schema {
            Value::Object(_) => self.count_for_value(schema),
            _ => 0,
        };
        match schema {
            Value::Object(members) => {
                for (name, member) in members {
                    if total < self.limit && !DATA_KEYWORDS.contains(&name.as_str()) {
                        total = total.saturating_add(self.count_total(member));
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    if total < self.limit {
                        total = total.saturating_add(self.count_total(item));
                    }
                }
            }
            _ => {}
        }
        total
    }

    /// Counts the alternatives for one value: the sum over branches, the product over keywords that
    /// apply together.
    fn count_for_value(&mut self, schema: &'s Value) -> u64 {
        let Some(keywords) = schema.as_object() else { return 1 };
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        self.known.insert(schema, 1);
        let mut product: u64 = 1;
        for (keyword, said) in keywords {
            let factor = match (keyword.as_str(), said) {
                ("$ref", Value::String(target)) => match self.references.resolve(target) {
                    Some((_, target)) => self.count_for_value(target),
                    None => 1,
                },
                ("anyOf" | "oneOf", Value::Array(branches)) => branches
                    .iter()
                    .fold(0_u64, |sum, branch| sum.saturating_add(self.count_for_value(branch))),
                ("allOf", Value::Array(parts)) => parts.iter().fold(1_u64, |product, part| {
                    product.saturating_mul(self.count_for_value(part))
                }),
                // A negated schema holds if any one of its parts fails.
                ("not", negated) => count_parts(negated),
                ("if", _) => 2,
                ("dependentSchemas" | "dependencies" | "dependentRequired", Value::Object(all)) => {
                    2_u64.saturating_pow(u32::try_from(all.len()).unwrap_or(u32::MAX))
                }
                _ => 1,
            };
            product = product.saturating_mul(factor.max(1)).min(self.limit.saturating_mul(2));
        }
        self.known.insert(schema, product);
        product
    }
}

/// Counts the requirements of a schema, each of which can fail separately.
fn count_parts(schema: &Value) -> u64 {
    let Some(keywords) = schema.as_object() else { return 1 };
    let sum = |inner: &mut dyn Iterator<Item = &Value>| {
        inner.fold(0_u64, |sum, one| sum.saturating_add(count_parts(one)))
    };
    let parts = keywords.iter().map(|(keyword, said)| match (keyword.as_str(), said) {
        ("properties" | "patternProperties", Value::Object(all)) => sum(&mut all.values()),
        ("allOf" | "prefixItems", Value::Array(all)) => sum(&mut all.iter()),
        ("anyOf" | "oneOf", Value::Array(all)) => {
            all.iter().fold(1_u64, |product, one| product.saturating_mul(count_parts(one)))
        }
        ("required", Value::Array(all)) => all.len() as u64,
        _ => 1,
    });
    parts.fold(0_u64, u64::saturating_add).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn branches_add_and_what_holds_together_multiplies() {
        let either = json!({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "boolean"}]});
        let count = |schema: Value| count_alternatives(&schema, 1_000_000);
        assert_eq!(count(json!({"type": "string"})), 1);
        // The whole schema has nine, each of the two `anyOf` has three, and each branch has one.
        assert_eq!(count(json!({"allOf": [either, either]})), 9 + 2 * (3 + 3));
        assert!(count(json!({"allOf": vec![either.clone(); 40]})) >= 1_000_000);
        assert!(count(json!({"allOf": [{"$ref": "#"}, either]})) < 20);
        let negated =
            json!({"not": {"properties": {"a": {"type": "string"}, "b": {"type": "null"}}}});
        assert!(count(json!({"allOf": vec![negated; 16]})) >= 65_536);
    }
}
