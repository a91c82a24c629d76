//! A patch that names its own format: `{"format": …, "ops": …}`.
//!
//! Models write patches in this form, so it is read more strictly than RFC 6902 requires. Programs
//! send the bare array instead.

use serde_json::Value;

use super::Patch;
use super::patch_parser::{UnknownMemberPolicy, invalid_patch_violation, parse_operations};
use super::value_slot::describe_kind;
use crate::json;
use crate::reply::{Violation, ViolationList, format_value};

const FORMAT_NAMES: &str = "\"json_patch\" or \"merge_patch\"";

impl Patch {
    /// Parses `{"format": "json_patch", "ops": [..]}` or `{"format": "merge_patch", "ops": {..}}`;
    /// a merge patch becomes operations against `document`. Format and shape must agree, and an
    /// unknown member is refused unless it is null. The pointers of violations lead into `tagged`.
    pub fn from_tagged(tagged: &Value, document: &Value) -> Result<Self, Vec<Violation>> {
        let Value::Object(members) = tagged else {
            let expected = "an object with `format` and `ops`";
            return Err(vec![invalid_patch_violation("", expected, describe_kind(tagged))]);
        };
        let mut violations: ViolationList = members
            .iter()
            .filter(|(name, value)| !matches!(name.as_str(), "format" | "ops") && !value.is_null())
            .map(|(name, value)| {
                invalid_patch_violation(
                    json::child_pointer("", name),
                    "only `format` and `ops`",
                    format_value(value),
                )
            })
            .collect();
        let format = members.get("format");
        let ops = members.get("ops");
        let patch = match (format.and_then(Value::as_str), ops) {
            (Some("json_patch"), Some(ops @ Value::Array(_))) => {
                parse_operations(ops, UnknownMemberPolicy::Refuse).map_err(|faults| {
                    violations
                        .extend(faults.into_iter().map(|fault| fault.with_pointer_prefix("/ops")));
                })
            }
            (Some("merge_patch"), Some(ops @ Value::Object(_))) => {
                Self::try_from_merge_patch(document, ops).map_err(|faults| {
                    violations
                        .extend(faults.into_iter().map(|fault| fault.with_pointer_prefix("/ops")));
                })
            }
            (known @ Some("json_patch" | "merge_patch"), _) => {
                let expected = if known == Some("json_patch") {
                    "an array of operations, because the format is json_patch"
                } else {
                    "an object, because the format is merge_patch"
                };
                violations.push(invalid_patch_violation(
                    "/ops",
                    expected,
                    ops.map_or("nothing", describe_kind),
                ));
                Err(())
            }
            _ => {
                let found = format.map_or_else(|| "nothing".to_owned(), format_value);
                violations.push(invalid_patch_violation("/format", FORMAT_NAMES, found));
                Err(())
            }
        };
        match patch {
            Ok(patch) if violations.count() == 0 => Ok(patch),
            _ => Err(violations.finish()),
        }
    }

    /// Changes the pointer of a violation from [`Authority::check`](super::Authority::check) or
    /// [`apply`](Self::apply) so that it leads into the tagged value from which this patch was
    /// parsed: `/ops/2/path` for an array of operations, or the location that a merge patch names:
    /// `/ops/meta/status`.
    #[must_use]
    pub fn relocate_violation(&self, tagged: &Value, violation: Violation) -> Violation {
        let is_merge = tagged.get("ops").is_some_and(Value::is_object);
        let index =
            json::split_pointer(&violation.pointer).next().and_then(|index| index.parse().ok());
        match index.and_then(|index: usize| self.ops.get(index)) {
            Some(op) if is_merge => {
                violation.with_pointer(op.path().as_str()).with_pointer_prefix("/ops")
            }
            _ => violation.with_pointer_prefix("/ops"),
        }
    }
}
