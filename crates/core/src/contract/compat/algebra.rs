//! The set algebra of schemas: containment, difference, disjointness.
//!
//! The only file that knows the engine's algebra. It is experimental there, so nothing of it shows
//! outside. There is no clock here: a schema beyond a fixed size is not worked on at all.

use jsonschema::PatternOptions;
use jsonschema::canonical::{CanonicalSchema, Containment, Satisfiability, options};
use serde_json::Value;

use crate::contract::sample::standing_alone;

/// So many JSON values two schemas may consist of; the largest schema that ships has 778.
const LARGEST: usize = 6000;

/// What the algebra knows about two schemas.
#[derive(Debug)]
pub(super) enum Proof {
    /// The outer schema takes everything the inner one takes.
    Contained,
    /// It does not, or nobody knows; the difference as a schema where it can be written.
    Open { reason: String, difference: Option<Value> },
}

/// Asks whether `outer` takes everything that `inner` takes.
pub(super) fn contained(inner: &Value, outer: &Value) -> Proof {
    if inner == outer {
        return Proof::Contained;
    }
    let open = |reason: String| Proof::Open { reason, difference: None };
    if size(inner) + size(outer) > LARGEST {
        return open("the schemas are too large to be compared as sets".to_owned());
    }
    let (Ok(left), Ok(right)) = (canonical(inner), canonical(outer)) else {
        return open("a schema could not be brought into its canonical form".to_owned());
    };
    let rest = left.subtract(&right).ok();
    let difference = || rest.as_ref().map(CanonicalSchema::to_json_schema);
    match right.covers(&left) {
        Ok(Containment::Yes) => Proof::Contained,
        Ok(_) if rest.as_ref().is_some_and(|rest| rest.satisfiability() == Satisfiability::No) => {
            Proof::Contained
        }
        Ok(Containment::No) => {
            let reason = "the schemas differ, but no value that shows it was found".to_owned();
            Proof::Open { reason, difference: difference() }
        }
        Ok(Containment::Unknown) => {
            let reason = "containment of the schemas could not be decided".to_owned();
            Proof::Open { reason, difference: difference() }
        }
        Err(error) => open(format!("the schemas cannot be compared as sets: {error}")),
    }
}

/// Whether no value fits both subschemas of a document. False where that is not proven.
pub(in crate::contract) fn disjoint(root: &Value, left: &Value, right: &Value) -> bool {
    if size(root) > LARGEST {
        return false;
    }
    let alone = |schema| canonical(&standing_alone(root, schema));
    let (Ok(left), Ok(right)) = (alone(left), alone(right)) else { return false };
    left.intersect(&right).is_ok_and(|both| both.satisfiability() == Satisfiability::No)
}

/// The canonical form under the very options that schemas are compiled with.
fn canonical(schema: &Value) -> Result<CanonicalSchema, String> {
    options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .canonicalize(schema)
        .map_err(|error| error.to_string())
}

fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn containment_is_proven_or_left_open() {
        let proven =
            |inner: Value, outer: Value| matches!(contained(&inner, &outer), Proof::Contained);
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
        assert!(disjoint(&root, &json!({"type": "string"}), &json!({"$ref": "#/$defs/gate"})));
        assert!(!disjoint(&root, &json!({"type": "string"}), &json!({"minLength": 3})));
    }

    #[test]
    fn what_is_too_large_is_not_tried() {
        let large = json!({"enum": (0..LARGEST).collect::<Vec<_>>()});
        let Proof::Open { reason, .. } = contained(&large, &json!({"type": "integer"})) else {
            panic!()
        };
        assert_eq!(reason, "the schemas are too large to be compared as sets");
    }
}
