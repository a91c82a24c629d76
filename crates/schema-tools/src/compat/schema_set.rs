//! Set algebra of schemas: containment, difference and disjointness.
//!
//! Only this file uses the algebra of the schema engine. The engine calls it experimental, so
//! nothing of it is visible outside. This crate has no clock, so schemas beyond a fixed size are
//! not compared at all.

use std::cell::OnceCell;

use countersign_contract::contract::is_draft_07;
use jsonschema::PatternOptions;
use jsonschema::canonical::{CanonicalSchema, Containment, Satisfiability, options};
use serde_json::Value;

use super::count_alternatives::count_alternatives;
use crate::sample::to_standalone_schema;
use crate::work_budget::count_values;

/// The maximum number of JSON values in two schemas together; the largest shipped schema has 778.
const MAX_SET_VALUES: usize = 6000;

/// The maximum number of alternatives in two schemas, counted as the product where they apply
/// together. The engine expands each of them and cannot be interrupted.
const MAX_ALTERNATIVES: u64 = 20_000;

/// The maximum number of pairs of alternatives of two schemas: the engine compares every pair.
const MAX_ALTERNATIVE_PAIRS: u64 = 16_384;

/// The maximum number of `enum` members in two schemas; the engine compares every pair.
const MAX_LISTED_VALUES: usize = 1000;

/// The maximum number of branches that are compared pair by pair.
const MAX_PAIRED_BRANCHES: usize = 8;

/// The result of comparing two schemas as sets.
#[derive(Debug)]
pub(super) enum ContainmentProof {
    /// The outer schema accepts everything that the inner one accepts.
    Contained,
    /// Containment is refuted or undecided. `difference` is a schema of the difference, if it can
    /// be expressed.
    Unproven { reason: String, difference: Option<Value> },
}

/// A schema as a set; its canonical form is computed once, on first use.
#[derive(Debug)]
pub(super) struct SchemaSet {
    pub(super) schema: Value,
    values: usize,
    alternatives: OnceCell<u64>,
    canonical: OnceCell<Result<CanonicalSchema, String>>,
}

impl SchemaSet {
    /// Creates a set from a schema.
    pub(super) fn new(schema: Value) -> Self {
        let values = count_values(&schema);
        Self { schema, values, alternatives: OnceCell::new(), canonical: OnceCell::new() }
    }

    fn alternative_count(&self) -> u64 {
        *self.alternatives.get_or_init(|| count_alternatives(&self.schema, MAX_ALTERNATIVES))
    }

    fn canonical_form(&self) -> Option<&CanonicalSchema> {
        self.canonical.get_or_init(|| canonicalize(&self.schema)).as_ref().ok()
    }
}

/// Checks whether `outer` accepts everything that `inner` accepts.
pub(super) fn prove_containment(inner: &SchemaSet, outer: &SchemaSet) -> ContainmentProof {
    if inner.schema == outer.schema {
        return ContainmentProof::Contained;
    }
    let open =
        |reason: &str| ContainmentProof::Unproven { reason: reason.to_owned(), difference: None };
    if inner.values + outer.values > MAX_SET_VALUES {
        return open("the schemas are too large to be compared as sets");
    }
    if inner.alternative_count().saturating_add(outer.alternative_count()) > MAX_ALTERNATIVES
        || inner.alternative_count().saturating_mul(outer.alternative_count())
            > MAX_ALTERNATIVE_PAIRS
    {
        return open("the schemas have too many alternatives to be compared as sets");
    }
    if count_enum_values(&inner.schema) + count_enum_values(&outer.schema) > MAX_LISTED_VALUES {
        return open("the schemas list too many values to be compared as sets");
    }
    let (Some(left), Some(right)) = (inner.canonical_form(), outer.canonical_form()) else {
        return open("a schema could not be converted to its canonical form");
    };
    let rest = left.subtract(right).ok();
    let difference = || rest.as_ref().map(CanonicalSchema::to_json_schema);
    match right.covers(left) {
        Ok(Containment::Yes) => ContainmentProof::Contained,
        Ok(_) if rest.as_ref().is_some_and(|rest| rest.satisfiability() == Satisfiability::No) => {
            ContainmentProof::Contained
        }
        Ok(Containment::No) => {
            let reason = "the schemas differ, but no value that shows it was found".to_owned();
            ContainmentProof::Unproven { reason, difference: difference() }
        }
        Ok(Containment::Unknown) => {
            let reason = "containment of the schemas could not be decided".to_owned();
            ContainmentProof::Unproven { reason, difference: difference() }
        }
        Err(error) => open(&format!("the schemas cannot be compared as sets: {error}")),
    }
}

/// Returns whether no value is valid against two of these subschemas of a document; false if this
/// is not proven.
pub(super) fn are_pairwise_disjoint(root: &Value, schemas: &[Value]) -> bool {
    if schemas.len() > MAX_PAIRED_BRANCHES || count_values(root) * schemas.len() > MAX_SET_VALUES {
        return false;
    }
    if count_alternatives(root, MAX_ALTERNATIVES) >= MAX_ALTERNATIVES {
        return false;
    }
    let alone = |schema: &Value| canonicalize(&to_standalone_schema(root, schema));
    let Ok(all) = schemas.iter().map(alone).collect::<Result<Vec<_>, _>>() else { return false };
    all.iter().enumerate().all(|(index, one)| {
        all[index + 1..].iter().all(|two| {
            one.intersect(two).is_ok_and(|both| both.satisfiability() == Satisfiability::No)
        })
    })
}

/// Returns the canonical form, with the same options that schemas are compiled with.
fn canonicalize(schema: &Value) -> Result<CanonicalSchema, String> {
    if is_draft_07(schema) && has_later_format(schema) {
        return Err("draft-07 does not define all formats that the schema uses".to_owned());
    }
    options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .canonicalize(schema)
        .map_err(|error| error.to_string())
}

/// Counts the members of all enumerations of a schema.
fn count_enum_values(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => {
            members.get("enum").and_then(Value::as_array).map_or(0, Vec::len)
                + members.values().map(count_enum_values).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count_enum_values).sum(),
        _ => 0,
    }
}

/// Returns whether a schema uses a format that draft-07 does not define.
fn has_later_format(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            let format = members.get("format").and_then(Value::as_str);
            matches!(format, Some("uuid" | "duration")) || members.values().any(has_later_format)
        }
        Value::Array(items) => items.iter().any(has_later_format),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn containment_is_proven_or_left_open() {
        let proven = |inner: Value, outer: Value| {
            let (inner, outer) = (SchemaSet::new(inner), SchemaSet::new(outer));
            matches!(prove_containment(&inner, &outer), ContainmentProof::Contained)
        };
        assert!(proven(json!({"type": "integer"}), json!({"type": "number"})));
        assert!(proven(json!({"enum": ["a"]}), json!({"type": "string", "maxLength": 1})));
        assert!(!proven(json!({"type": "number"}), json!({"type": "integer"})));
        assert!(!proven(
            json!({"dependencies": {}, "unevaluatedProperties": false}),
            json!({"dependencies": {}, "unevaluatedProperties": true})
        ));
    }

    #[test]
    fn disjointness_is_proven_or_denied() {
        let root = json!({"$defs": {"gate": {"type": "object"}}});
        let disjoint = |one: Value, two: Value| are_pairwise_disjoint(&root, &[one, two]);
        assert!(disjoint(json!({"type": "string"}), json!({"$ref": "#/$defs/gate"})));
        assert!(!disjoint(json!({"type": "string"}), json!({"minLength": 3})));
    }

    #[test]
    fn formats_that_the_algebra_does_not_know_are_left_open() {
        let draft = "http://json-schema.org/draft-07/schema#";
        let any = SchemaSet::new(json!({"$schema": draft, "type": "string"}));
        let uuid = SchemaSet::new(json!({"$schema": draft, "type": "string", "format": "uuid"}));
        assert!(matches!(prove_containment(&any, &uuid), ContainmentProof::Unproven { .. }));
    }

    #[test]
    fn what_is_too_large_is_not_tried() {
        let large = json!({"enum": (0..MAX_SET_VALUES).collect::<Vec<_>>()});
        let refused = |schema: Value| {
            let (inner, outer) =
                (SchemaSet::new(schema), SchemaSet::new(json!({"type": "integer"})));
            let ContainmentProof::Unproven { reason, .. } = prove_containment(&inner, &outer)
            else {
                panic!()
            };
            reason
        };
        assert_eq!(refused(large), "the schemas are too large to be compared as sets");
        let either = |number: usize| json!({"anyOf": (0..8).map(|one| json!({"required": [format!("{number}-{one}")]})).collect::<Vec<_>>()});
        let product = json!({"allOf": (0..10).map(either).collect::<Vec<_>>()});
        assert_eq!(
            refused(product),
            "the schemas have too many alternatives to be compared as sets"
        );
    }
}
