//! Canonical JSON text of a value (RFC 8785), and its digest.
//!
//! Two files with the same content have the same digest, regardless of layout and key order.

use serde_json::Value;

use super::sha256_hex;
use crate::expr::js_number::to_js_string;

/// Returns the canonical text of a value: keys sorted by UTF-16 code units, numbers formatted as in
/// JavaScript.
#[must_use]
pub fn to_canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

/// Returns `sha256:` followed by the hexadecimal digest of the canonical text.
#[must_use]
pub fn digest_json(value: &Value) -> String {
    format!("sha256:{}", sha256_hex(&[to_canonical_json(value).as_bytes()]))
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => match number.as_f64() {
            // Integers beyond 2^53 keep all their digits; RFC 8785 would round them.
            Some(_) if number.is_i64() || number.is_u64() => text.push_str(&number.to_string()),
            Some(double) => text.push_str(&to_js_string(double)),
            None => text.push_str(&number.to_string()),
        },
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort_by(|left, right| left.encode_utf16().cmp(right.encode_utf16()));
            text.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(&members[key], text);
            }
            text.push('}');
        }
        // `serde_json` escapes strings as RFC 8785 requires.
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn order_and_notation_do_not_matter() {
        let left: Value =
            serde_json::from_str(r#"{"b": [1.0, 2e3], "a": "\u00e9\n", "€": null, "😀": 1}"#)
                .unwrap();
        assert_eq!(to_canonical_json(&left), "{\"a\":\"é\\n\",\"b\":[1,2000],\"€\":null,\"😀\":1}");
        assert_eq!(digest_json(&json!({"a": 1, "b": 2})), digest_json(&json!({"b": 2, "a": 1.0})));
        assert_ne!(digest_json(&json!({"a": 1})), digest_json(&json!({"a": "1"})));
    }

    #[test]
    fn a_digest_is_sha256_of_the_text() {
        assert_eq!(
            digest_json(&json!({})),
            "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        );
    }
}
