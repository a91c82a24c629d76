//! Schemas of anybody's making: a schema, a zero byte, and an instance.

use countersign_contract::contract::Schema;
use countersign_contract::json;
use serde_json::Value;

use super::text_ranges::parts;

/// Compiles a schema and asks it about an instance.
///
/// # Panics
/// Where an invariant of schemas is broken.
pub fn schema(input: &[u8]) {
    let (schema, instance) = parts(input);
    let Ok(source) = serde_json::from_slice::<Value>(schema) else { return };
    let Ok(mut value) = serde_json::from_slice::<Value>(instance) else { return };
    let Ok(schema) = Schema::compile(source) else { return };
    check(&schema, &value);
    for pointer in schema.fill_defaults(&mut value) {
        assert!(value.pointer(&pointer).is_some(), "no default at {pointer}");
    }
    let filled = value.clone();
    assert_eq!(
        schema.fill_defaults(&mut value),
        Vec::<String>::new(),
        "defaults were filled in twice"
    );
    assert_eq!(value, filled);
    check(&schema, &value);
}

fn check(schema: &Schema, value: &Value) {
    let violations = schema.list_violations(value);
    assert_eq!(violations.is_empty(), schema.is_valid(value), "{violations:?}");
    for violation in &violations {
        // A missing field is named by where it should stand.
        let pointer = violation.pointer.as_str();
        let around = json::parent_pointer(pointer).unwrap_or_default();
        assert!(value.pointer(around).is_some(), "{violation:?}");
    }
}
