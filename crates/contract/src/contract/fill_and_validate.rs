//! Fills in defaults and validates the value.
//!
//! A default is a convenience that the model did not write, so it must not cause a refusal. A
//! filled-in default that makes a value invalid is removed again.

use serde_json::Value;

use super::schema::Schema;
use crate::json;
use crate::limits::MAX_DEFAULT_BYTES;
use crate::reply::{Violation, ViolationCode};

/// The number of rounds that remove only the defaults at fault, before all defaults are removed.
const MAX_REMOVAL_ROUNDS: usize = 3;

/// The result of filling in defaults and validating.
#[derive(Debug)]
pub(crate) struct SchemaValidation {
    /// The pointers of the defaults that were filled in and kept.
    pub(crate) defaults: Vec<String>,
    /// The violations of the value; empty if it is valid.
    pub(crate) violations: Vec<Violation>,
}

impl Schema {
    /// Fills in defaults and validates the value against the schema.
    pub(crate) fn fill_and_validate(&self, value: &mut Value) -> SchemaValidation {
        let filled = self.fill_defaults_measured(value);
        let mut defaults = filled.added;
        if filled.is_truncated {
            remove_fields(value, &defaults);
            let expected = format!("a value whose defaults add at most {MAX_DEFAULT_BYTES} bytes");
            let violation =
                Violation::new(ViolationCode::TooLarge, "", expected, "defaults that add more");
            return SchemaValidation { defaults: Vec::new(), violations: vec![violation] };
        }
        let mut violations = self.list_violations(value);
        for _ in 0..MAX_REMOVAL_ROUNDS {
            if violations.is_empty() || defaults.is_empty() {
                return SchemaValidation { defaults, violations };
            }
            let (blamed, kept): (Vec<String>, Vec<String>) =
                defaults.into_iter().partition(|pointer| is_blamed(pointer, &violations));
            defaults = kept;
            if blamed.is_empty() {
                break;
            }
            remove_fields(value, &blamed);
            // Defaults inside a removed default are removed with it.
            defaults.retain(|pointer| value.pointer(pointer).is_some());
            violations = self.list_violations(value);
        }
        if violations.is_empty() || defaults.is_empty() {
            return SchemaValidation { defaults, violations };
        }
        let mut bare = value.clone();
        remove_fields(&mut bare, &defaults);
        let without = self.list_violations(&bare);
        let blames = defaults.iter().any(|pointer| is_blamed(pointer, &violations));
        if blames || without.len() < violations.len() {
            *value = bare;
            return SchemaValidation { defaults: Vec::new(), violations: without };
        }
        SchemaValidation { defaults, violations }
    }
}

/// Returns whether a violation lies in the default at this pointer.
fn is_blamed(pointer: &str, violations: &[Violation]) -> bool {
    violations.iter().any(|violation| {
        let inside = violation.pointer.strip_prefix(pointer);
        inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Removes fields, inner ones first.
fn remove_fields(value: &mut Value, pointers: &[String]) {
    for pointer in pointers.iter().rev() {
        let container = json::parent_pointer(pointer).and_then(|parent| value.pointer_mut(parent));
        let name = json::split_pointer(pointer).last();
        if let (Some(Value::Object(members)), Some(name)) = (container, name) {
            members.shift_remove(name.as_ref());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[expect(clippy::needless_pass_by_value, reason = "a case reads better without ampersands")]
    #[track_caller]
    fn check(schema: Value, value: Value, completed: Value, expected: &[&str]) {
        let mut value = value;
        let SchemaValidation { violations, .. } =
            Schema::compile(schema).unwrap().fill_and_validate(&mut value);
        assert_eq!(value, completed);
        let shown: Vec<String> = violations.iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn no_value_is_refused_for_a_default() {
        // The default is invalid in its own schema.
        let broken = json!({"properties": {"a": {"type": "integer", "default": "x"}}});
        check(broken, json!({}), json!({}), &[]);
        // The default is valid alone, but not together with the other keywords.
        let crowded = json!({"maxProperties": 1, "properties": {"a": {"default": 1}, "b": {}}});
        check(crowded, json!({"b": 2}), json!({"b": 2}), &[]);
        let excluded = json!({"properties": {"a": {"default": 1}, "b": {"default": 2}}, "not": {"required": ["a"]}});
        check(excluded, json!({}), json!({}), &[]);
        let narrow = json!({"properties": {"a": {"default": 1}}, "if": {}, "then": {"properties": {"a": {"minimum": 5}}}});
        check(narrow, json!({}), json!({}), &[]);
    }

    #[test]
    fn good_defaults_stay_and_real_faults_are_told() {
        let schema = json!({"required": ["a", "b"], "properties": {"a": {"default": 1}, "b": {"type": "string"}}});
        check(schema.clone(), json!({"b": "x"}), json!({"b": "x", "a": 1}), &[]);
        check(
            schema,
            json!({"b": 1}),
            json!({"b": 1, "a": 1}),
            &["/b: expected a string, found 1 [type]"],
        );
    }

    #[test]
    fn a_value_that_would_gain_too_much_is_refused() {
        let schema = json!({"properties": {"l": {"items": {"properties": {"t": {"default": "x".repeat(10_000)}}}}}});
        let mut value = json!({"l": vec![json!({}); 5_000]});
        let original = value.clone();
        let SchemaValidation { violations, .. } =
            Schema::compile(schema).unwrap().fill_and_validate(&mut value);
        assert_eq!(violations[0].code, ViolationCode::TooLarge);
        assert_eq!(value, original);
    }
}
