//! Finds where two values differ, as the `test` operation compares them: numbers by value, and
//! objects regardless of the order of their keys.

use std::fmt;

use serde_json::{Number, Value};

use crate::json;

/// The first location at which two values differ, relative to the root of both. `None` on one side
/// means that this side has no value there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ValueDifference<'v> {
    pub(super) pointer: String,
    pub(super) expected: Option<&'v Value>,
    pub(super) found: Option<&'v Value>,
}

/// Compares two values and returns `None` if they are equal. The work is bounded by the size of
/// `expected`.
pub(super) fn find_difference<'v>(
    expected: &'v Value,
    found: &'v Value,
) -> Option<ValueDifference<'v>> {
    let inside =
        |segment: &dyn fmt::Display, expected: Option<&'v Value>, found: Option<&'v Value>| {
            let mut difference = match (expected, found) {
                (Some(expected), Some(found)) => find_difference(expected, found)?,
                _ => ValueDifference { pointer: String::new(), expected, found },
            };
            difference.pointer.insert_str(0, &json::child_pointer("", &segment.to_string()));
            Some(difference)
        };
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let missing =
                expected.iter().find_map(|(key, value)| inside(&key, Some(value), found.get(key)));
            missing.or_else(|| {
                let (key, value) = found.iter().find(|(key, _)| !expected.contains_key(*key))?;
                inside(&key, None, Some(value))
            })
        }
        (Value::Array(expected), Value::Array(found)) => {
            let longest = expected.len().max(found.len()).min(expected.len() + 1);
            (0..longest).find_map(|index| inside(&index, expected.get(index), found.get(index)))
        }
        (Value::Number(one), Value::Number(two)) if is_same_number(one, two) => None,
        (one, two) if one == two => None,
        _ => Some(ValueDifference {
            pointer: String::new(),
            expected: Some(expected),
            found: Some(found),
        }),
    }
}

/// Compares exactly even where a double could not tell the values apart: 2^53 + 1 is not 2^53.
fn is_same_number(one: &Number, two: &Number) -> bool {
    match (as_integer(one), as_integer(two)) {
        (Some(one), Some(two)) => one == two,
        (None, None) => one.as_f64() == two.as_f64(),
        _ => false,
    }
}

fn as_integer(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i128() {
        return Some(integer);
    }
    let double = number.as_f64()?;
    // JSON values hold no integer beyond 2^64, so doubles beyond it are compared as doubles.
    (double.fract() == 0.0 && double.abs() <= 2_f64.powi(64)).then_some(double as i128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(expected: &Value, found: &Value, at: Option<&str>) {
        let difference = find_difference(expected, found);
        assert_eq!(
            difference.as_ref().map(|difference| difference.pointer.as_str()),
            at,
            "{expected} {found} {difference:?}"
        );
    }

    #[test]
    fn numbers_are_compared_by_value() {
        check(&json!(1), &json!(1.0), None);
        check(&json!(-0.0), &json!(0), None);
        check(&json!(1e20), &json!(1e20), None);
        check(&json!(u64::MAX), &json!(u64::MAX), None);
        check(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992.0), Some(""));
        check(&json!(u64::MAX), &json!(u64::MAX as f64), Some(""));
        check(&json!(i64::MIN), &json!(i64::MIN as f64), None);
        check(&json!(1), &json!(1.5), Some(""));
        check(&json!(1), &json!("1"), Some(""));
        check(&json!(0), &json!(false), Some(""));
    }

    #[test]
    fn the_first_difference_is_told() {
        check(&json!({"a": 1, "b": 2}), &json!({"b": 2.0, "a": 1}), None);
        check(&json!({"a": {"b/c": [1, 2]}}), &json!({"a": {"b/c": [1, 3]}}), Some("/a/b~1c/1"));
        check(&json!({"a": null}), &json!({}), Some("/a"));
        check(&json!({}), &json!({"a": null}), Some("/a"));
        check(&json!([1]), &json!([1, 2, 3]), Some("/1"));
        check(&json!([1, 2]), &json!([1]), Some("/1"));
        check(&json!([]), &json!({}), Some(""));
        check(&json!(null), &json!(null), None);
    }
}
