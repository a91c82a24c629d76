//! Explains failed alternatives: of the branches of `anyOf` and `oneOf`, the nearest one is
//! reported. If several are equally near, one line reports all of them.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

use super::describe_schema::join_items;
use super::schema_explainer::SchemaExplainer;
use crate::reply::{Violation, ViolationCode, ViolationList, format_value};
use crate::similar_name::find_similar_name;

/// Adds the violations of the nearest branch, or a single violation if no branch is near.
pub(super) fn explain_branches(
    explain: SchemaExplainer<'_>,
    error: &ValidationError<'_>,
    pointer: &str,
    branches: &[Vec<ValidationError<'static>>],
    into: &mut ViolationList,
) {
    let base = pointer.strip_suffix(error.instance_path().as_str()).unwrap_or_default();
    if let Some(violation) = describe_unknown_discriminator(error, base, branches) {
        into.push(violation);
        return;
    }
    let distance = |branch: &[ValidationError<'static>]| -> usize {
        branch.iter().map(|fault| weigh_error(fault, error)).sum()
    };
    let least = branches.iter().map(|branch| distance(branch)).min().unwrap_or(UNRELATED_DISTANCE);
    let nearest: Vec<Vec<Violation>> = branches
        .iter()
        .filter(|branch| distance(branch) == least)
        .map(|branch| {
            let mut list = ViolationList::default();
            for fault in branch {
                explain.explain_error(fault, base, &mut list);
            }
            list.finish()
        })
        .collect();
    match nearest.as_slice() {
        [only] if least < UNRELATED_DISTANCE => into.extend(only.iter().cloned()),
        several => {
            into.push(describe_alternatives(several, pointer, format_value(error.instance())));
        }
    }
}

/// If one field selects the branch and every branch expects another value of it, returns one
/// violation that lists all these values.
fn describe_unknown_discriminator(
    error: &ValidationError<'_>,
    base: &str,
    branches: &[Vec<ValidationError<'static>>],
) -> Option<Violation> {
    let whole = error.instance_path().as_str();
    let (first, others) = branches.split_first().filter(|(_, others)| !others.is_empty())?;
    let listed = |fault: &ValidationError<'static>| match fault.kind() {
        Kind::Constant { expected_value } => Some(vec![expected_value.as_ref().clone()]),
        Kind::Enum { options } => options.as_array().cloned(),
        _ => None,
    };
    let is_field = |fault: &&ValidationError<'static>| {
        let rest = fault.instance_path().as_str().strip_prefix(whole).unwrap_or_default();
        rest.len() > 1 && !rest[1..].contains('/') && listed(fault).is_some()
    };
    let field = first.iter().find(is_field)?;
    let mut values = listed(field)?;
    for branch in others {
        let same = |fault: &&ValidationError<'static>| {
            fault.instance_path() == field.instance_path() && listed(fault).is_some()
        };
        for value in listed(branch.iter().find(same)?)? {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    let expected = format!("one of {}", join_items(values.iter().map(ToString::to_string)));
    let at = format!("{base}{}", field.instance_path().as_str());
    let violation =
        Violation::new(ViolationCode::Enum, at, expected, format_value(field.instance()));
    let word = field.instance().as_str().unwrap_or_default();
    Some(match find_similar_name(word, values.iter().filter_map(|value| value.as_str())) {
        Some(meant) => violation.with_hint(format!("did you mean \"{meant}\"?")),
        None => violation,
    })
}

/// Describes branches that are equally near, or equally far, in one line.
fn describe_alternatives(branches: &[Vec<Violation>], pointer: &str, found: String) -> Violation {
    let mut firsts = branches.iter().filter_map(|branch| branch.first());
    if firsts.clone().all(|fault| fault.code == ViolationCode::Type && fault.pointer == pointer) {
        let mut expected: Vec<&str> = firsts.map(|fault| fault.expected.as_str()).collect();
        expected.dedup();
        return Violation::new(ViolationCode::Type, pointer, expected.join(" or "), found);
    }
    let here = firsts.all(|fault| fault.pointer == pointer);
    let alternative = |branch: &Vec<Violation>| {
        let parts = branch.iter().take(MAX_NAMED_ALTERNATIVES).map(|fault| {
            let expected = &fault.expected;
            if here { expected.clone() } else { format!("{expected} at {}", fault.pointer) }
        });
        let words = parts.collect::<Vec<_>>().join(" and ");
        if branch.len() > MAX_NAMED_ALTERNATIVES { format!("{words} and more") } else { words }
    };
    let mut expected: Vec<String> =
        branches.iter().take(MAX_NAMED_ALTERNATIVES).map(alternative).collect();
    expected.dedup();
    if branches.len() > MAX_NAMED_ALTERNATIVES {
        expected.push(format!("{} more alternatives", branches.len() - MAX_NAMED_ALTERNATIVES));
    }
    Violation::new(ViolationCode::AnyOf, pointer, expected.join("; or "), found)
}

/// The maximum number of alternatives, and of requirements per alternative, in one sentence.
const MAX_NAMED_ALTERNATIVES: usize = 12;

/// The distance from which a branch counts as unrelated to the value.
const UNRELATED_DISTANCE: usize = 1000;

/// Returns the weight of one error in the distance of its branch.
fn weigh_error(fault: &ValidationError<'_>, whole: &ValidationError<'_>) -> usize {
    let at_root = fault.instance_path() == whole.instance_path();
    match fault.kind() {
        Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. } if at_root => {
            UNRELATED_DISTANCE
        }
        Kind::FalseSchema if at_root => UNRELATED_DISTANCE,
        // A field that selects the branch.
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
    fn check(schema: Value, value: Value, expected: &[&str]) {
        let violations = Schema::compile(schema).unwrap().list_violations(&value);
        let shown: Vec<String> = violations.iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected);
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
    fn an_unknown_kind_lists_every_alternative() {
        let shape = |kind: &str, fields: &[&str]| {
            let mut required = vec!["kind"];
            required.extend(fields);
            json!({"type": "object", "required": required, "properties": {"kind": {"const": kind}}})
        };
        check(
            json!({"oneOf": [shape("circle", &["r"]), shape("square", &["a"]), shape("box", &["a", "b", "c"])]}),
            json!({"kind": "sqare"}),
            &["/kind: expected one of \"circle\", \"square\", \"box\", found \"sqare\" [enum]"],
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
            json!({"anyOf": [{"minimum": 5}, {"maximum": 2}]}),
            json!(3),
            &["the reply: expected at least 5; or at most 2, found 3 [any_of]"],
        );
        check(
            json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({}),
            &["the reply: expected a value at /a; or a value at /b, found {} [any_of]"],
        );
        check(
            json!({"oneOf": [{"minimum": 0}, {"maximum": 9}]}),
            json!(5),
            &[
                "the reply: expected a value that fits exactly one of the alternatives, found 5 [one_of]",
            ],
        );
    }
}
