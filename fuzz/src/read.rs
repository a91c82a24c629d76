//! The JSON reader, at every level of repair, beside `serde_json`.

use countersign_contract::json::{self, RepairLevel};
use countersign_contract::limits::{MAX_KEY_BYTES, MAX_POINTER_BYTES};
use serde_json::Value;

use super::text_ranges::assert_inside;

/// Nesting at which `serde_json` gives up, one before the reader does.
const JUDGE_DEPTH: usize = 128;

/// Reads a text at every level.
///
/// # Panics
/// Where an invariant of readings is broken.
pub fn read(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let plain = json::parse_json(text, RepairLevel::None);
    judge(text, plain.as_ref().ok());
    for level in RepairLevel::ALL {
        match json::parse_json(text, level) {
            Ok(reading) => {
                check(text, level, &reading);
                if let Ok(plain) = &plain {
                    assert_eq!(*plain, reading, "{level:?} reads JSON otherwise");
                }
            }
            Err(stop) => {
                assert_inside(text, stop.span.range(), &stop);
                assert!(plain.is_err(), "{level:?} refuses JSON: {stop:?}");
            }
        }
    }
}

/// What reads without repair and without flaw is what `serde_json` reads, and the other way round.
fn judge(text: &str, plain: Option<&json::ParsedJson>) {
    let theirs = serde_json::from_str::<Value>(text);
    match (plain, theirs) {
        (Some(ours), _) if !ours.data_losses.is_empty() || depth(&ours.value) >= JUDGE_DEPTH => {}
        (Some(ours), Ok(theirs)) => {
            assert!(ours.repairs.is_empty());
            assert!(same(&ours.value, &theirs), "{} is not {theirs}", ours.value);
        }
        (Some(ours), Err(error)) => {
            // Its quick way with long numbers may step over the largest double.
            let range = error.to_string().starts_with("number out of range");
            assert!(range, "read {} where `serde_json` says {error}", ours.value);
        }
        (None, Ok(theirs)) => {
            let beyond = has_long_names(&theirs, 0);
            assert!(beyond, "refused what `serde_json` reads: {theirs:?}");
        }
        (None, Err(_)) => {}
    }
}

/// Whether a key, or the pointer to a value, is longer than the reader takes.
fn has_long_names(value: &Value, pointer: usize) -> bool {
    let escaped = |key: &String| key.len() + key.matches(['~', '/']).count();
    pointer > MAX_POINTER_BYTES
        || match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .any(|(index, item)| has_long_names(item, pointer + 1 + index.to_string().len())),
            Value::Object(members) => members.iter().any(|(key, member)| {
                key.len() > MAX_KEY_BYTES || has_long_names(member, pointer + 1 + escaped(key))
            }),
            _ => false,
        }
}

fn check(text: &str, level: RepairLevel, reading: &json::ParsedJson) {
    assert_inside(text, reading.span.range(), reading);
    assert!(depth(&reading.value) <= countersign_contract::limits::MAX_DEPTH);
    for repair in &reading.repairs {
        assert_inside(text, repair.span.range(), repair);
        assert!(level.allows(repair.class), "{repair:?} at {level:?}");
    }
    for flaw in &reading.data_losses {
        assert_inside(text, flaw.span.range(), flaw);
    }
    for (pointer, span) in json::parse_json_spans(text, reading.span.start, level) {
        assert_inside(text, span.range(), &pointer);
        assert!(
            !reading.data_losses.is_empty() || reading.value.pointer(&pointer).is_some(),
            "{pointer}"
        );
    }
    let canonical = json::to_canonical_json(&reading.value);
    let again = json::parse_json(&canonical, RepairLevel::None).expect("canonical text is JSON");
    assert_eq!(json::to_canonical_json(&again.value), canonical);
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Equality but for the last bits of doubles, where `serde_json` trades accuracy for speed.
fn same(left: &Value, right: &Value) -> bool {
    const LAST_BITS: u64 = 4;
    match (left, right) {
        (Value::Number(left), Value::Number(right)) if left.is_f64() && right.is_f64() => {
            let bits = |number: &serde_json::Number| number.as_f64().unwrap_or_default().to_bits();
            bits(left).abs_diff(bits(right)) <= LAST_BITS
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| left.0 == right.0 && same(left.1, right.1))
        }
        _ => left == right,
    }
}
