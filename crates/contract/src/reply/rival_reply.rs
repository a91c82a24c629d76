//! Finds text besides a valid object that could be the real reply, broken or torn apart.
//!
//! A rival is any text that names a field of the contract as an answer would. Text that only
//! repeats the valid object is not a rival. Every text is examined once, regardless of the number
//! of fields.

use serde_json::Value;

use super::intake::ReplyCandidate;
use super::reply_scanner::is_quote;
use crate::json::{self, RepairLevel, TextSpan};
use crate::limits::MAX_CANDIDATES;

/// The number of bytes of a bare word after `"field":` that are examined.
const MAX_BARE_WORD_BYTES: usize = 96;

/// The number of top-level contract fields that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct FieldOverlap {
    named_fields: usize,
}

impl FieldOverlap {
    /// Returns whether the text counts as an attempt at the reply. One field is enough: a retry is
    /// better than accepting the wrong object.
    pub(super) fn is_attempt(self) -> bool {
        self.named_fields > 0
    }
}

/// Counts the contract fields that a candidate names, at the nesting level that names most of them:
/// a reply in a wrapper is still an attempt at the reply.
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

/// Counts the fields that occur in a text as words. A field name that is not a word may occur
/// anywhere in the text.
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

/// Returns whether a value is an echoed JSON Schema, for a contract that does not ask for one.
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

/// Text besides the valid object that could be the real reply.
#[derive(Debug)]
pub(super) struct RivalReply {
    /// The byte span in the reply text.
    pub(super) span: TextSpan,
    claim: RivalClaim,
}

#[derive(Debug)]
enum RivalClaim {
    /// A rival whose value cannot be compared with the reply.
    Incomparable,
    /// The members of a parsed object.
    Members(Value),
    /// One field that prose states.
    Field(String, ClaimedValue),
}

#[derive(Debug)]
enum ClaimedValue {
    Value(Value),
    /// A word without JSON quotes.
    BareWord(String),
}

impl RivalReply {
    /// Creates a rival that no reply agrees with.
    pub(super) fn new(span: TextSpan) -> Self {
        Self { span, claim: RivalClaim::Incomparable }
    }

    /// Creates a rival from a quoted object; it does not count if it only repeats the reply.
    pub(super) fn from_restatement(span: TextSpan, value: Value) -> Self {
        Self { span, claim: RivalClaim::Members(value) }
    }

    /// Returns whether the rival only repeats what the reply says.
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

/// Returns the contract fields that appear as quoted keys in a stretch of prose, with the values
/// the prose gives them. A sentence after the colon is not a value.
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

/// Returns the field whose quoted name ends a text.
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

/// Reads the value after the colon at `at`.
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
    // The period that ends a sentence is not part of a number before it.
    if let Ok(reading) = json::parse_json(word, RepairLevel::None) {
        return AfterColon::Claimed(ClaimedValue::Value(reading.value));
    }
    AfterColon::Claimed(ClaimedValue::BareWord(word.to_owned()))
}
