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
