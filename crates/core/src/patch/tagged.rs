//! A patch that says of itself in which format it is: `{"format": …, "ops": …}`.
//!
//! This is how models write patches, so it is read more strictly than the RFC asks. Not for patches
//! of programs: those come as the bare array.

use serde_json::Value;

use super::Patch;
use super::read::{Strangers, invalid, operations};
use super::slot::kind;
use crate::json;
use crate::reply::{Violation, ViolationList, show};

const FORMATS: &str = "\"json_patch\" or \"merge_patch\"";

impl Patch {
    /// Reads `{"format": "json_patch", "ops": [..]}` or `{"format": "merge_patch", "ops": {..}}`; a
    /// merge patch becomes operations against `document`. Format and shape must agree, and a member
    /// that nobody would read is refused unless it is null. The pointers of violations lead into
    /// `tagged`.
    pub fn from_tagged(tagged: &Value, document: &Value) -> Result<Self, Vec<Violation>> {
        let Value::Object(members) = tagged else {
            let expected = "an object with `format` and `ops`";
            return Err(vec![invalid("", expected, kind(tagged))]);
        };
        let mut violations: ViolationList = members
            .iter()
            .filter(|(name, value)| !matches!(name.as_str(), "format" | "ops") && !value.is_null())
            .map(|(name, value)| {
                invalid(json::child("", name), "only `format` and `ops`", show(value))
            })
            .collect();
        let format = members.get("format");
        let ops = members.get("ops");
        let patch = match (format.and_then(Value::as_str), ops) {
            (Some("json_patch"), Some(ops @ Value::Array(_))) => {
                operations(ops, Strangers::Refused).map_err(|faults| {
                    violations.extend(faults.into_iter().map(|fault| fault.under("/ops")));
                })
            }
            (Some("merge_patch"), Some(ops @ Value::Object(_))) => Self::try_merge(document, ops)
                .map_err(|faults| {
                    violations.extend(faults.into_iter().map(|fault| fault.under("/ops")));
                }),
            (known @ Some("json_patch" | "merge_patch"), _) => {
                let expected = if known == Some("json_patch") {
                    "an array of operations, for the format is json_patch"
                } else {
                    "an object, for the format is merge_patch"
                };
                violations.push(invalid("/ops", expected, ops.map_or("nothing", kind)));
                Err(())
            }
            _ => {
                let found = format.map_or_else(|| "nothing".to_owned(), show);
                violations.push(invalid("/format", FORMATS, found));
                Err(())
            }
        };
        match patch {
            Ok(patch) if violations.count() == 0 => Ok(patch),
            _ => Err(violations.finish()),
        }
    }

    /// Turns violations of this patch, by [`Authority::check`](super::Authority::check) or by
    /// [`apply`](Self::apply), so that they point into the tagged value it was read from:
    /// `/ops/2/path` in an array, and the place that is named in a merge patch: `/ops/meta/status`.
    #[must_use]
    pub fn place_in(&self, tagged: &Value, violation: Violation) -> Violation {
        let is_merge = tagged.get("ops").is_some_and(Value::is_object);
        let index = json::split(&violation.pointer).next().and_then(|index| index.parse().ok());
        match index.and_then(|index: usize| self.ops.get(index)) {
            Some(op) if is_merge => violation.pointing(op.path().as_str()).under("/ops"),
            _ => violation.under("/ops"),
        }
    }
}
