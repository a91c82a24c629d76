//! Alternatives: of the branches of `anyOf` and `oneOf`, the nearest one speaks.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

use super::explain::Explain;
use crate::reply::{Code, Violation, show};

/// Puts the violations of the nearest branch, or one violation where no branch is near.
pub(super) fn explain(
    explain: Explain<'_>,
    error: &ValidationError<'_>,
    pointer: &str,
    branches: &[Vec<ValidationError<'static>>],
    into: &mut Vec<Violation>,
) {
    let base = pointer.strip_suffix(error.instance_path().as_str()).unwrap_or_default();
    let distance = |branch: &[ValidationError<'static>]| -> usize {
        branch.iter().map(|fault| weight(fault, error)).sum()
    };
    let nearest = branches.iter().min_by_key(|branch| distance(branch));
    match nearest {
        Some(branch) if distance(branch) < FOREIGN => {
            for fault in branch {
                explain.fault(fault, base, into);
            }
        }
        _ => {
            let mut each = Vec::new();
            for fault in branches.iter().filter_map(|branch| branch.first()) {
                explain.fault(fault, base, &mut each);
            }
            let found = show(error.instance());
            let types = each.iter().all(|fault| fault.code == Code::Type);
            let mut expected: Vec<String> = each.into_iter().map(|fault| fault.expected).collect();
            expected.dedup();
            into.push(if types {
                Violation::new(Code::Type, pointer, expected.join(" or "), found)
            } else {
                let expected = expected.join("; or ");
                Violation::new(Code::AnyOf, pointer, expected, found)
            });
        }
    }
}

/// From here on, a branch is not what the value tried to be.
const FOREIGN: usize = 1000;

/// How much one fault speaks against its branch.
fn weight(fault: &ValidationError<'_>, whole: &ValidationError<'_>) -> usize {
    let at_root = fault.instance_path() == whole.instance_path();
    match fault.kind() {
        Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. } if at_root => FOREIGN,
        Kind::FalseSchema if at_root => FOREIGN,
        // A field that says which branch is meant.
        Kind::Constant { .. } | Kind::Enum { .. } => 20,
        Kind::Required { .. } => 4,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::Schema;
    use serde_json::{Value, json};

    #[expect(clippy::needless_pass_by_value, reason = "a case reads better without ampersands")]
    #[track_caller]
    fn check(schema: Value, value: Value, told: &[&str]) {
        let violations = Schema::compile(schema).unwrap().violations(&value);
        let shown: Vec<String> = violations.iter().map(ToString::to_string).collect();
        assert_eq!(shown, told);
    }

    fn shapes() -> Value {
        let shape = |kind: &str, field: &str| json!({"required": ["kind", field], "properties": {"kind": {"const": kind}, field: {"type": "number", "minimum": 0}}});
        json!({"properties": {"shapes": {"items": {"oneOf": [shape("circle", "radius"), shape("square", "side")]}}}})
    }

    #[test]
    fn the_branch_the_value_names_speaks_and_the_others_are_silent() {
        check(
            shapes(),
            json!({"shapes": [{"kind": "square", "side": 1}, {"kind": "square", "side": -1}]}),
            &["/shapes/1/side: expected at least 0, found -1 [minimum]"],
        );
        check(
            shapes(),
            json!({"shapes": [{"kind": "circle"}]}),
            &[
                "/shapes/0/radius: expected a number, found nothing: the field is missing [required]",
            ],
        );
    }

    #[test]
    fn where_no_branch_is_near_all_are_named_in_one_line() {
        check(
            json!({"anyOf": [{"type": "string"}, {"type": "array"}]}),
            json!(1),
            &["the reply: expected a string or an array, found 1 [type]"],
        );
        check(
            json!({"anyOf": [{"const": 5}, {"enum": ["all", "none"]}]}),
            json!(1),
            &["the reply: expected 5; or one of \"all\", \"none\", found 1 [any_of]"],
        );
        check(
            json!({"oneOf": [{"minimum": 0}, {"maximum": 9}]}),
            json!(5),
            &["the reply: expected exactly one of the alternatives to fit, found 5 [one_of]"],
        );
    }
}
