//! Removes a lone wrapper around the reply: `{"result": {…}}`, `[{…}]`, or a string that holds the
//! object.
//!
//! Only the outermost layer is removed, only if it holds nothing else, and only if the contract
//! refuses the outer value and accepts the inner one.
//! `docs/decisions/0020-what-stands-as-a-reply.md` explains why this loses nothing.

use serde_json::Value;

use crate::contract::Contract;
use crate::json::{self, ParsedJson, Repair, RepairKind, RepairLevel, TextSpan};

use super::intake::{self, ReplyCandidate, build_candidate};

/// Keys that hold a reply and say nothing about it. The id of the contract counts as one, too.
const WRAPPER_KEYS: [&str; 7] = ["result", "response", "answer", "output", "data", "reply", "json"];

/// Returns the array or string in `within` as a candidate if it can hold the object and nothing
/// else surrounds it.
pub(super) fn find_wrapped_object(
    text: &str,
    within: TextSpan,
    level: RepairLevel,
) -> Option<ReplyCandidate> {
    let may_hold = matches!(text.as_bytes().get(within.start), Some(b'[' | b'"'));
    if level < RepairLevel::Lossless || !may_hold {
        return None;
    }
    let reading = json::parse_json_prefix(&text[..within.end], within.start, level).ok()?;
    let holds = match &reading.value {
        Value::Array(items) => matches!(items.as_slice(), [Value::Object(_)]),
        Value::String(held) => held.trim_start().starts_with('{'),
        _ => false,
    };
    let alone = text[reading.span.end..within.end].trim().is_empty();
    (holds && alone).then(|| build_candidate(text, reading.span, Ok(reading)))
}

/// Returns the whole text, or the content of its single fence, as a candidate if it is a string
/// that can hold the object.
pub(super) fn find_string_wrapped_object(text: &str, level: RepairLevel) -> Option<ReplyCandidate> {
    let whole = TextSpan::new(0, text.len());
    let (within, fence) = match intake::find_fence(text, whole) {
        Some((within, fence)) => (within, Some(fence)),
        None => (whole, None),
    };
    let inside = &text[within.range()];
    let start = within.start + inside.len() - inside.trim_start().len();
    if text.as_bytes().get(start) != Some(&b'"') {
        return None;
    }
    let mut held = find_wrapped_object(text, TextSpan::new(start, within.end), level)?;
    if let (Ok(reading), Some(fence)) = (&mut held.reading, fence) {
        reading.repairs.insert(0, Repair::new(RepairKind::CodeFence, fence));
    }
    Some(held)
}

/// Returns the content of a lone wrapper if the contract accepts the content and not the wrapper.
/// The span of the result is that of the inner object, or of the wrapper if the object is inside a
/// string.
pub(super) fn unwrap_lone_wrapper(
    text: &str,
    reading: &ParsedJson,
    level: RepairLevel,
    contract: &Contract,
) -> Option<ParsedJson> {
    if level < RepairLevel::Lossless || !reading.data_losses.is_empty() {
        return None;
    }
    let value = find_inner_value(&reading.value, contract)?;
    let fields = contract.schema.top_level_fields();
    if !value.as_object()?.keys().any(|key| fields.binary_search(key).is_ok()) {
        return None;
    }
    let fits = |value: &Value| {
        let mut value = value.clone();
        contract.schema.fill_defaults(&mut value);
        contract.schema.is_valid(&value)
    };
    let outer_fits = reading.value.is_object() && fits(&reading.value);
    if outer_fits || !fits(&value) {
        return None;
    }
    let span = find_inner_span(text, reading, level).unwrap_or(reading.span);
    let mut repairs = reading.repairs.clone();
    let behind =
        repairs.iter().take_while(|repair| repair.span.start <= reading.span.start).count();
    repairs.insert(behind, Repair::new(RepairKind::Wrapper, reading.span));
    Some(ParsedJson { value, span, repairs, data_losses: Vec::new(), data_loss_count: 0 })
}

/// Returns the span of the inner object, or `None` if it is inside a string.
fn find_inner_span(text: &str, reading: &ParsedJson, level: RepairLevel) -> Option<TextSpan> {
    if reading.value.is_string() {
        return None;
    }
    let outer = reading.span.start + 1;
    let start = outer + text[outer..reading.span.end].find('{')?;
    json::parse_json_prefix(text, start, level).ok().map(|inner| inner.span)
}

fn find_inner_value(value: &Value, contract: &Contract) -> Option<Value> {
    match value {
        Value::Object(members) if members.len() == 1 => {
            let (name, inner) = members.iter().next()?;
            let known = WRAPPER_KEYS.iter().any(|one| one.eq_ignore_ascii_case(name))
                || name.eq_ignore_ascii_case(&contract.id);
            (known && inner.is_object()).then(|| inner.clone())
        }
        Value::Array(items) => match items.as_slice() {
            [inner @ Value::Object(_)] => Some(inner.clone()),
            _ => None,
        },
        Value::String(held) => {
            let reading = json::parse_json(held, RepairLevel::Lossless).ok()?;
            (reading.data_losses.is_empty() && reading.value.is_object()).then_some(reading.value)
        }
        _ => None,
    }
}
