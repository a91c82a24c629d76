//! Families of hostile schemas, by size.

use serde_json::{Map, Value, json};

/// A name, the size to begin with, and the schema of a size.
pub(crate) type Family = (&'static str, usize, fn(usize) -> Value);

/// So many fields `f0`, `f1`, ….
pub(crate) fn table(count: usize, make: impl Fn(usize) -> Value) -> Value {
    (0..count).map(|number| (format!("f{number}"), make(number))).collect::<Map<_, _>>().into()
}

fn list(count: usize, make: impl Fn(usize) -> Value) -> Value {
    (0..count).map(make).collect()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("f{number}")).collect()
}

fn to(number: usize) -> Value {
    json!({"$ref": format!("#/$defs/f{number}")})
}

/// An object whose field `x` leads to the first of so many definitions and a last one.
fn chained(count: usize, make: impl Fn(usize) -> Value, last: &Value) -> Value {
    let defs = table(count + 1, |number| if number == count { last.clone() } else { make(number) });
    json!({"type": "object", "properties": {"x": to(0)}, "$defs": defs})
}

/// Every family.
#[expect(clippy::too_many_lines, reason = "a list of families, one after the other")]
pub(crate) fn schemas() -> Vec<Family> {
    vec![
        ("fields", 250, |size| {
            let fields = table(size, |_| json!({"type": "string"}));
            json!({"type": "object", "properties": fields, "required": names(size)})
        }),
        ("optional fields", 125, |size| {
            let fields = table(size, |_| json!({"type": "string", "minLength": 2}));
            json!({"type": "object", "additionalProperties": false, "properties": fields})
        }),
        (
            "listed values",
            1000,
            |size| json!({"type": "object", "properties": {"a": {"enum": names(size)}}}),
        ),
        ("definitions in a row", 100, |size| {
            let next = |number| json!({"type": "object", "properties": {"n": to(number + 1)}});
            chained(size, next, &json!({"type": "null"}))
        }),
        ("references in a row", 100, |size| chained(size, |number| to(number + 1), &json!({}))),
        ("definitions that all lead to each other", 128, |size| {
            let count = size.isqrt();
            let each = |_| json!({"type": "object", "properties": table(count, to)});
            json!({"type": "object", "properties": {"x": to(0)}, "$defs": table(count, each)})
        }),
        ("a tree of references with company", 14, |size| {
            let level = |number: usize| {
                let mut next = to(number + 1);
                next["minProperties"] = json!(1);
                json!({"type": "object", "properties": {"l": next, "r": next}})
            };
            chained(size, level, &json!({"type": "object"}))
        }),
        ("doubled references for one value", 6, |size| {
            let level = |number| json!({"allOf": [to(number + 1), to(number + 1)]});
            chained(size, level, &json!({"type": "object"}))
        }),
        ("doubled references for the inside", 8, |size| {
            let level = |number| {
                let half = json!({"properties": {"x": to(number + 1)}});
                json!({"type": "object", "required": ["x"], "allOf": [half, half]})
            };
            chained(size, level, &json!({"type": "object"}))
        }),
        ("alternatives", 50, |size| {
            let branch = |number: usize| {
                let kind = json!({"const": format!("k{number}")});
                json!({"type": "object", "required": ["k"], "properties": {"k": kind}})
            };
            json!({"type": "object", "properties": {"a": {"oneOf": list(size, branch)}}})
        }),
        ("alternatives beside fields", 20, |size| {
            let fields = table(size, |_| json!({"type": "string"}));
            let branches = list(size, |number| json!({"required": [format!("f{number}")]}));
            json!({"type": "object", "properties": fields, "anyOf": branches})
        }),
        ("alternatives that multiply", 2, |size| {
            let either = |number: usize| {
                let (one, two) = (format!("a{number}"), format!("b{number}"));
                json!({"anyOf": [{"required": [one]}, {"required": [two]}, {"minProperties": number}]})
            };
            json!({"type": "object", "allOf": list(size, either)})
        }),
        ("parts of one value", 100, |size| {
            let part = |number: usize| {
                let field = format!("f{number}");
                json!({"properties": {field: {"type": "string"}, "a": {"maxLength": number}}})
            };
            json!({"type": "object", "allOf": list(size, part)})
        }),
        ("conditions", 50, |size| {
            let condition = |number: usize| {
                let (one, two) = (format!("f{number}"), format!("f{}", number + 1));
                json!({"if": {"required": [one]}, "then": {"required": [two]}})
            };
            json!({"type": "object", "allOf": list(size, condition)})
        }),
        ("nested objects", 5, |size| {
            let around = |inner: Value, _| {
                let fields = json!({"n": inner, "o": {"type": "integer"}});
                json!({"type": "object", "properties": fields})
            };
            (0..size).fold(json!({"type": "string"}), around)
        }),
        ("defaults", 100, |size| {
            let fields = table(size, |number| json!({"type": "integer", "default": number}));
            json!({"type": "object", "properties": fields})
        }),
        ("nested defaults", 12, |size| {
            let level = |number: usize| {
                let mut next = to(number + 1);
                next["default"] = json!({});
                json!({"properties": {"l": next, "r": next}})
            };
            chained(size, level, &json!({"properties": {"v": {"default": 1}}}))
        }),
        (
            "a least number of fields",
            1000,
            |size| json!({"type": "object", "minProperties": size * 1_000_000}),
        ),
        ("a least length of texts and lists", 1000, |size| {
            let text = json!({"type": "string", "minLength": size * 1_000_000});
            let list = json!({"type": "array", "minItems": size * 1000, "maxItems": 0});
            let pattern =
                json!({"type": "string", "pattern": "^a*$", "minLength": size * 1_000_000});
            let fields = json!({"t": text, "l": list, "p": pattern});
            json!({"type": "object", "required": ["t", "l", "p"], "properties": fields})
        }),
    ]
}
