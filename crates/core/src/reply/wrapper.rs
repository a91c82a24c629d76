//! A lone wrapper around the reply: `{"result": {…}}`, `[{…}]`, or a string that holds the object.
//!
//! Only the outermost layer, only where it holds nothing else, and only where the contract refuses
//! the outer value and takes the inner one; why that is lossless stands in
//! `docs/decisions/0020-what-stands-as-a-reply.md`.

use serde_json::Value;

use crate::contract::Contract;
use crate::json::{self, Reading, Repair, RepairKind, RepairLevel, Span};

use super::intake::{self, Candidate, candidate};

/// Members that hold a reply and say nothing about it. The contract's own id is one, too.
const WRAPPERS: [&str; 7] = ["result", "response", "answer", "output", "data", "reply", "json"];

/// A list or a string in `within` that may hold the object, and nothing beside it.
pub(super) fn find_wrapped_object(
    text: &str,
    within: Span,
    level: RepairLevel,
) -> Option<Candidate> {
    let may_hold = matches!(text.as_bytes().get(within.start), Some(b'[' | b'"'));
    if level < RepairLevel::Lossless || !may_hold {
        return None;
    }
    let reading = json::read_prefix(&text[..within.end], within.start, level).ok()?;
    let holds = match &reading.value {
        Value::Array(items) => matches!(items.as_slice(), [Value::Object(_)]),
        Value::String(held) => held.trim_start().starts_with('{'),
        _ => false,
    };
    let alone = text[reading.span.end..within.end].trim().is_empty();
    (holds && alone).then(|| candidate(text, reading.span, Ok(reading)))
}

/// The whole text, or its one fence, as a string that may hold the object.
pub(super) fn find_held_object(text: &str, level: RepairLevel) -> Option<Candidate> {
    let whole = Span::new(0, text.len());
    let (within, fence) = match intake::fence(text, whole) {
        Some((within, fence)) => (within, Some(fence)),
        None => (whole, None),
    };
    let inside = &text[within.range()];
    let start = within.start + inside.len() - inside.trim_start().len();
    if text.as_bytes().get(start) != Some(&b'"') {
        return None;
    }
    let mut held = find_wrapped_object(text, Span::new(start, within.end), level)?;
    if let (Ok(reading), Some(fence)) = (&mut held.reading, fence) {
        reading.repairs.insert(0, Repair::new(RepairKind::CodeFence, fence));
    }
    Some(held)
}

/// The reading of what a lone wrapper holds, where the contract takes that and not the wrapper.
/// The reading's span is the inner object's, where it has one in the text.
pub(super) fn unwrap(
    text: &str,
    reading: &Reading,
    level: RepairLevel,
    contract: &Contract,
) -> Option<Reading> {
    if level < RepairLevel::Lossless || !reading.flaws.is_empty() {
        return None;
    }
    let value = find_inner(&reading.value, contract)?;
    let fields = contract.schema.own_fields();
    if !value.as_object()?.keys().any(|key| fields.binary_search(key).is_ok()) {
        return None;
    }
    let fits = |value: &Value| {
        let mut value = value.clone();
        contract.schema.fill(&mut value);
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
    Some(Reading { value, span, repairs, flaws: Vec::new(), flaw_count: 0 })
}

/// Where the held object stands; a string has none in the text itself.
fn find_inner_span(text: &str, reading: &Reading, level: RepairLevel) -> Option<Span> {
    if reading.value.is_string() {
        return None;
    }
    let outer = reading.span.start + 1;
    let start = outer + text[outer..reading.span.end].find('{')?;
    json::read_prefix(text, start, level).ok().map(|inner| inner.span)
}

fn find_inner(value: &Value, contract: &Contract) -> Option<Value> {
    match value {
        Value::Object(members) if members.len() == 1 => {
            let (name, inner) = members.iter().next()?;
            let known = WRAPPERS.iter().any(|one| one.eq_ignore_ascii_case(name))
                || name.eq_ignore_ascii_case(&contract.id);
            (known && inner.is_object()).then(|| inner.clone())
        }
        Value::Array(items) => match items.as_slice() {
            [inner @ Value::Object(_)] => Some(inner.clone()),
            _ => None,
        },
        Value::String(held) => {
            let reading = json::read(held, RepairLevel::Lossless).ok()?;
            (reading.flaws.is_empty() && reading.value.is_object()).then_some(reading.value)
        }
        _ => None,
    }
}
