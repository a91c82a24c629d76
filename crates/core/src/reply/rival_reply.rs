//! What beside a fitting object could be the real reply, broken or torn.
//!
//! A rival is anything that names a field of the contract as an answer would. One that only says
//! again what the fitting object says is none. Every text is looked at once, whatever the number of
//! fields.

use serde_json::Value;

use super::intake::ReplyCandidate;
use super::reply_scanner::is_quote;
use crate::json::{self, RepairLevel, TextSpan};
use crate::limits::MAX_CANDIDATES;

/// How many bytes of a bare word behind `"field":` are looked at.
const MAX_BARE_WORD_BYTES: usize = 96;

/// How many of the top fields of a contract are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct FieldOverlap {
    named_fields: usize,
}

impl FieldOverlap {
    /// One field is enough to be an attempt at the reply: better to ask again than to let the
    /// wrong one in.
    pub(super) fn is_attempt(self) -> bool {
        self.named_fields > 0
    }
}

/// How much of the contract a candidate names, itself or anywhere inside: a reply in a wrapper is
/// still an attempt at the reply.
pub(super) fn measure_overlap(
    text: &str,
    candidate: &ReplyCandidate,
    fields: &[String],
) -> FieldOverlap {
    match &candidate.reading {
        Ok(reading) if is_schema(&reading.value, fields) => FieldOverlap::default(),
        Ok(reading) => measure_deepest_overlap(&reading.value, fields),
        Err(_) => count_named_fields(&text[candidate.span.range()], fields),
    }
}

fn measure_deepest_overlap(value: &Value, fields: &[String]) -> FieldOverlap {
    let (own, inside): (usize, &mut dyn Iterator<Item = &Value>) = match value {
        Value::Array(items) => (0, &mut items.iter()),
        Value::Object(members) => {
            let named = members.keys().filter(|key| fields.binary_search(key).is_ok()).count();
            (named, &mut members.values())
        }
        _ => return FieldOverlap::default(),
    };
    inside
        .map(|member| measure_deepest_overlap(member, fields))
        .fold(FieldOverlap { named_fields: own }, Ord::max)
}

/// The fields that stand in a text as words; one that is no word, anywhere.
fn count_named_fields(text: &str, fields: &[String]) -> FieldOverlap {
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
    let mut named: Vec<&str> = text
        .split(|c: char| !in_word(c))
        .filter(|word| !word.is_empty())
        .filter(|word| fields.binary_search_by(|field| field.as_str().cmp(word)).is_ok())
        .collect();
    named.sort_unstable();
    named.dedup();
    let odd = fields.iter().filter(|field| !field.is_empty() && !field.chars().all(in_word));
    FieldOverlap {
        named_fields: named.len() + odd.filter(|field| text.contains(field.as_str())).count(),
    }
}

/// Whether a value is a JSON Schema that was echoed, for a contract that asks for none.
fn is_schema(value: &Value, fields: &[String]) -> bool {
    let Some(properties) = value.get("properties").and_then(Value::as_object) else { return false };
    let schemas = properties.values().all(|one| one.is_object() || one.is_boolean());
    let declared = value.get("type").is_some_and(|kind| kind == "object")
        || value.get("$schema").is_some()
        || value.get("required").is_some_and(Value::is_array);
    let asked_for = ["type", "properties", "$schema"]
        .iter()
        .any(|name| fields.binary_search_by(|field| field.as_str().cmp(name)).is_ok());
    schemas && declared && !asked_for
}

/// Something beside the fitting object that could be the real reply.
#[derive(Debug)]
pub(super) struct RivalReply {
    /// Where it stands.
    pub(super) span: TextSpan,
    claim: RivalClaim,
}

#[derive(Debug)]
enum RivalClaim {
    /// Something that cannot be compared.
    Incomparable,
    /// Some members of an object.
    Members(Value),
    /// One field, in prose.
    Field(String, ClaimedValue),
}

#[derive(Debug)]
enum ClaimedValue {
    Value(Value),
    /// A word without JSON's quotes.
    BareWord(String),
}

impl RivalReply {
    /// A rival that is one whatever the reply says.
    pub(super) fn new(span: TextSpan) -> Self {
        Self { span, claim: RivalClaim::Incomparable }
    }

    /// An object inside a sentence: no rival if it only says again what the reply says.
    pub(super) fn from_restatement(span: TextSpan, value: Value) -> Self {
        Self { span, claim: RivalClaim::Members(value) }
    }

    /// Whether it says nothing else than the reply.
    pub(super) fn agrees_with(&self, reply: &Value) -> bool {
        match &self.claim {
            RivalClaim::Incomparable => false,
            RivalClaim::Members(Value::Object(members)) => {
                !members.is_empty()
                    && members.iter().all(|(name, value)| reply.get(name) == Some(value))
            }
            RivalClaim::Members(_) => false,
            RivalClaim::Field(name, ClaimedValue::Value(value)) => reply.get(name) == Some(value),
            RivalClaim::Field(name, ClaimedValue::BareWord(word)) => {
                reply.get(name).and_then(Value::as_str) == Some(word)
            }
        }
    }
}

/// The fields that a stretch of prose has as keys, in quotes of any kind, with what it says of
/// them. A sentence behind the colon says nothing.
pub(super) fn find_claims(
    text: &str,
    prose: TextSpan,
    fields: &[String],
    candidates: &[(TextSpan, Option<Value>)],
) -> Vec<RivalReply> {
    let longest = fields.iter().map(String::len).max().unwrap_or(0);
    let mut claims = Vec::new();
    for (offset, _) in text[prose.range()].match_indices(':') {
        let colon = prose.start + offset;
        let Some(field) = find_key_before(&text[prose.start..colon], longest, fields) else {
            continue;
        };
        let span = TextSpan::new(colon - field.len(), colon + 1);
        let says = match read_after_colon(text, colon + 1, candidates) {
            AfterColon::Sentence => continue,
            AfterColon::Claimed(said) => RivalClaim::Field(field.to_owned(), said),
            AfterColon::Unreadable => RivalClaim::Incomparable,
        };
        claims.push(RivalReply { span, claim: says });
        if claims.len() > MAX_CANDIDATES {
            claims.push(RivalReply::new(span));
            break;
        }
    }
    claims
}

/// The field that stands, in quotes, at the end of a text.
fn find_key_before<'f>(text: &str, longest: usize, fields: &'f [String]) -> Option<&'f str> {
    let text = text.trim_end();
    let closing = text.chars().next_back().filter(|c| is_quote(*c))?;
    let text = text[..text.len() - closing.len_utf8()].trim_end_matches('\\');
    let mut from = text.len().saturating_sub(longest + 4);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let (opening, quote) = text[from..].char_indices().rfind(|(_, c)| is_quote(*c))?;
    let name = &text[from + opening + quote.len_utf8()..];
    let found = fields.binary_search_by(|field| field.as_str().cmp(name)).ok()?;
    Some(fields[found].as_str())
}

enum AfterColon {
    Claimed(ClaimedValue),
    Unreadable,
    Sentence,
}

/// What stands behind the colon at `at`.
fn read_after_colon(text: &str, at: usize, candidates: &[(TextSpan, Option<Value>)]) -> AfterColon {
    let rest = text[at..].trim_start();
    let start = text.len() - rest.len();
    match rest.as_bytes().first() {
        Some(b'{' | b'[') => {
            let found = candidates.binary_search_by_key(&start, |(span, _)| span.start);
            let value = found.ok().and_then(|index| candidates[index].1.clone());
            return value.map_or(AfterColon::Unreadable, |value| {
                AfterColon::Claimed(ClaimedValue::Value(value))
            });
        }
        None => return AfterColon::Unreadable,
        Some(_) => {}
    }
    if let Ok(reading) = json::parse_json_prefix(text, start, RepairLevel::Lossless) {
        return AfterColon::Claimed(ClaimedValue::Value(reading.value));
    }
    if rest.starts_with('"') {
        return AfterColon::Unreadable;
    }
    let mut window = rest.len().min(MAX_BARE_WORD_BYTES);
    while !rest.is_char_boundary(window) {
        window -= 1;
    }
    let end = rest[..window].find([',', '}', ']', '\n']).unwrap_or(window);
    let word = rest[..end].trim().trim_end_matches('.').trim_matches(is_quote);
    if word.contains(char::is_whitespace) {
        return AfterColon::Sentence;
    }
    // The period of a sentence behind a number is none of the number's.
    if let Ok(reading) = json::parse_json(word, RepairLevel::None) {
        return AfterColon::Claimed(ClaimedValue::Value(reading.value));
    }
    AfterColon::Claimed(ClaimedValue::BareWord(word.to_owned()))
}
