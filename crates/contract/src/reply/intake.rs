//! Intake of a reply: the object stands alone, in a code fence, or inside prose.
//!
//! Intake returns candidates and never chooses between them; the contract decides which one is the
//! reply.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::{
    self, JsonDataLoss, JsonDataLossKind, JsonParseError, JsonParseErrorKind, ParsedJson, Repair,
    RepairKind, RepairLevel, TextSpan,
};
use crate::limits::{self, MAX_KEY_BYTES, MAX_POINTER_BYTES, MAX_REPLY_BYTES};

use super::reply_scanner::{self, ScanResult};
use super::violation::{Violation, ViolationCode, format_value, shorten_text};
use super::wrapper;

/// The text that may surround the object in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IntakeMode {
    /// Only white space; the default.
    #[default]
    Strict,
    /// White space and one code fence.
    Fenced,
    /// Any text; the scanner searches it for the object.
    Tolerant,
}

impl IntakeMode {
    /// Every mode, strictest first.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Fenced, Self::Tolerant];

    /// Parses the name that contract files use, or returns `None` for another name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intake| intake.as_str() == name)
    }

    /// Returns the name that contract files use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Fenced => "fenced",
            Self::Tolerant => "tolerant",
        }
    }

    /// Returns the repairs that apply if a contract does not set `repairs`.
    #[must_use]
    pub fn default_repairs(self) -> RepairLevel {
        match self {
            Self::Strict => RepairLevel::None,
            Self::Fenced | Self::Tolerant => RepairLevel::Lossless,
        }
    }
}

/// The reason why the model stopped writing, as its provider reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model finished, or the provider reported nothing else; the default.
    #[default]
    Stop,
    /// The output limit cut the reply off. Repairs then cannot make it acceptable.
    Length,
}

/// The settings for the admission of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdmissionOptions {
    /// The text that may surround the object.
    pub intake: IntakeMode,
    /// The repairs that may be made.
    pub repairs: RepairLevel,
    /// The reason why the model stopped.
    pub finish: FinishReason,
}

/// The strictest settings: bare JSON from a model that finished.
impl Default for AdmissionOptions {
    fn default() -> Self {
        let intake = IntakeMode::default();
        Self { intake, repairs: intake.default_repairs(), finish: FinishReason::default() }
    }
}

/// A span of the text that may be the reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyCandidate {
    /// The byte span in the reply text.
    pub span: TextSpan,
    /// The parsed value, or the violation that says why it cannot be parsed.
    pub reading: Result<ParsedJson, Box<Violation>>,
    /// Whether its beginning looks like brackets in prose rather than an object.
    pub is_prose: bool,
    /// Whether the text ends before its closing bracket.
    pub is_unclosed: bool,
}

/// Finds every candidate. Returns a violation if there is none or if a limit is exceeded.
pub(super) fn find_candidates(
    text: &str,
    terms: AdmissionOptions,
) -> Result<ScanResult, Vec<Violation>> {
    tracing::trace!(bytes = text.len(), "searching the text for objects");
    let level = terms.repairs;
    if text.len() > MAX_REPLY_BYTES {
        let expected = format!("at most {MAX_REPLY_BYTES} bytes");
        let found = "more than that";
        return Err(vec![Violation::new(ViolationCode::TooLarge, "", expected, found)]);
    }
    match terms.intake {
        IntakeMode::Strict => {
            read_bare_object(text, TextSpan::new(0, text.len()), level).map(wrap_single_candidate)
        }
        IntakeMode::Fenced => read_fenced_object(text, level).map(wrap_single_candidate),
        IntakeMode::Tolerant => reply_scanner::scan_candidates(text, level),
    }
    .map_err(|violation| vec![*violation])
}

fn wrap_single_candidate(candidate: ReplyCandidate) -> ScanResult {
    ScanResult { candidates: vec![candidate], ..ScanResult::default() }
}

/// Reads `within` as one object surrounded only by white space.
fn read_bare_object(
    text: &str,
    within: TextSpan,
    level: RepairLevel,
) -> Result<ReplyCandidate, Box<Violation>> {
    let inner = &text[within.range()];
    let start = within.start + (inner.len() - trim_start(inner).len());
    let end = within.start + trim_end(inner).len();
    if start >= end {
        return Err(Box::new(Violation::new(
            ViolationCode::NoJson,
            "",
            "a JSON object",
            "nothing",
        )));
    }
    if text.as_bytes()[start] != b'{' {
        return wrapper::find_wrapped_object(text, TextSpan::new(start, end), level)
            .ok_or_else(|| Box::new(describe_missing_object(text, start, end)));
    }
    let mut reading = json::parse_json_prefix(&text[..end], start, level);
    if let Ok(reading) = &mut reading {
        // A comment after the object is a repair like a comment inside it, and is reported as one.
        match json::skip_json_space(&text[..end], reading.span.end, level) {
            Ok((rest, mut comments)) if rest == end => reading.repairs.append(&mut comments),
            _ => {
                let rest = trim_start(&text[reading.span.end..end]);
                let span = TextSpan::new(end - rest.len(), end);
                return Err(Box::new(describe_surrounding_text(
                    "nothing after the object",
                    rest,
                    span,
                )));
            }
        }
    }
    let end = reading.as_ref().map_or(end, |reading| reading.span.end);
    Ok(build_candidate(text, TextSpan::new(start, end), reading))
}

/// Describes a JSON value that is not an object.
pub(super) fn describe_non_object(value: &Value, span: TextSpan) -> Violation {
    let violation =
        Violation::new(ViolationCode::NotAnObject, "", "a JSON object", format_value(value))
            .with_span(span);
    match value.as_array().map(Vec::as_slice) {
        Some([Value::Object(_)]) => {
            violation.with_hint("send the object itself, not a list of one")
        }
        _ => violation,
    }
}

/// Describes a text that does not begin with an object.
fn describe_missing_object(text: &str, start: usize, end: usize) -> Violation {
    let rest = &text[start..end];
    match json::parse_json(rest, RepairLevel::None) {
        Ok(reading) => return describe_non_object(&reading.value, TextSpan::new(start, end)),
        Err(stop) if stop.kind == JsonParseErrorKind::TooDeep => return describe_stop(text, stop),
        Err(_) => {}
    }
    match rest.find('{') {
        Some(length) => {
            let span = TextSpan::new(start, start + length);
            describe_surrounding_text("nothing before the object", &rest[..length], span)
        }
        None => Violation::new(ViolationCode::NoJson, "", "a JSON object", quote_excerpt(rest))
            .with_span(TextSpan::new(start, end)),
    }
}

fn describe_surrounding_text(expected: &str, found: &str, span: TextSpan) -> Violation {
    let fence = found.starts_with("```") || found.starts_with("~~~");
    let found = if fence { "a code fence".to_owned() } else { quote_excerpt(found) };
    Violation::new(ViolationCode::TextAroundJson, "", expected, found)
        .with_hint(if fence { RepairKind::CodeFence.advice() } else { "send the object alone" })
        .with_span(span)
}

/// Reads an object that stands alone or in one code fence.
fn read_fenced_object(text: &str, level: RepairLevel) -> Result<ReplyCandidate, Box<Violation>> {
    let mut repairs = Vec::new();
    let mut start = 0;
    if text.starts_with('\u{feff}') && level >= RepairLevel::Lossless {
        start = '\u{feff}'.len_utf8();
        repairs.push(Repair::new(RepairKind::ByteOrderMark, TextSpan::new(0, start)));
    }
    let mut within = TextSpan::new(start, text.len());
    if let Some((inner, fence)) = find_fence(text, within) {
        within = inner;
        repairs.push(Repair::new(RepairKind::CodeFence, fence));
    }
    let mut found = read_bare_object(text, within, level)?;
    if let Ok(reading) = &mut found.reading {
        repairs.append(&mut reading.repairs);
        reading.repairs = repairs;
    }
    Ok(found)
}

/// Returns the inside of the single code fence that encloses `within`, and the span of the fence.
pub(super) fn find_fence(text: &str, within: TextSpan) -> Option<(TextSpan, TextSpan)> {
    let outer = &text[within.range()];
    let start = within.start + (outer.len() - trim_start(outer).len());
    let end = within.start + trim_end(outer).len();
    let fenced = text.get(start..end)?;
    let mark = fenced.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = fenced.len() - fenced.trim_start_matches(mark).len();
    if length < 3 {
        return None;
    }
    let inside = &fenced[length..];
    // The info string is the rest of the line, unless the object follows its first word.
    let word = inside.find(|c: char| !c.is_alphanumeric()).unwrap_or(inside.len());
    let info = if inside[word..].trim_start_matches(' ').starts_with('{') {
        word
    } else {
        inside.find('\n').unwrap_or(inside.len())
    };
    let content = &inside[info..];
    // The closing fence may be absent, because some callers use it as a stop sequence.
    let kept = content.trim_end_matches(mark);
    let closing = content.len() - kept.len();
    if closing != 0 && closing != length {
        return None;
    }
    let inner = start + length + info;
    Some((TextSpan::new(inner, inner + kept.len()), TextSpan::new(start, end)))
}

/// Builds a candidate from the result of the JSON parser.
pub(super) fn build_candidate(
    text: &str,
    span: TextSpan,
    reading: Result<ParsedJson, JsonParseError>,
) -> ReplyCandidate {
    let reading = reading.map_err(|stop| Box::new(describe_stop(text, stop)));
    ReplyCandidate { span, reading, is_prose: false, is_unclosed: false }
}

fn describe_stop(text: &str, stop: JsonParseError) -> Violation {
    let found = || match text.get(stop.span.range()) {
        Some("") | None => "the end of the reply".to_owned(),
        Some(_) => quote_excerpt(&text[stop.span.start..]),
    };
    match stop.kind {
        JsonParseErrorKind::TooDeep => {
            let expected = format!("at most {} levels of nesting", limits::MAX_DEPTH);
            Violation::new(ViolationCode::TooDeep, "", expected, "one more")
        }
        JsonParseErrorKind::PointerTooLong => {
            let expected = format!(
                "keys of at most {MAX_KEY_BYTES} bytes, and at most {MAX_POINTER_BYTES} in all keys around a value"
            );
            Violation::new(ViolationCode::PointerTooLong, "", expected, found()).with_hint("use shorter keys")
        }
        JsonParseErrorKind::EndOfText { expected } => {
            Violation::new(ViolationCode::Truncated, stop.pointer, expected, "the end of the reply")
                .with_hint("send the whole object again, shorter if it was cut off")
        }
        JsonParseErrorKind::Unexpected { expected, repair } => {
            let violation = Violation::new(ViolationCode::InvalidJson, stop.pointer, expected, found());
            match repair {
                Some(kind) => violation.with_hint(kind.advice()),
                None => violation,
            }
        }
    }
    .with_span(stop.span)
}

/// Describes a data loss of the JSON parser as a violation of the reply.
pub(super) fn describe_flaw(text: &str, flaw: &JsonDataLoss) -> Violation {
    let written = shorten_text(&text[flaw.span.range()]);
    let violation = |code, expected, found| Violation::new(code, &flaw.pointer, expected, found);
    match flaw.kind {
        JsonDataLossKind::DuplicateKey => {
            violation(ViolationCode::DuplicateKey, "each key once", format!("{written} again"))
                .with_hint("keep one of the two")
        }
        JsonDataLossKind::LossyNumber => {
            let expected = "a number that a double or a 64-bit integer holds without loss";
            violation(ViolationCode::LossyNumber, expected, written)
                .with_hint("write fewer digits or a smaller number, or put it in a string")
        }
        JsonDataLossKind::LoneSurrogate => {
            violation(ViolationCode::LoneSurrogate, "both halves of the character", written)
                .with_hint("write the character itself")
        }
    }
    .with_span(flaw.span)
}

/// Quotes a piece of the reply for a violation: one line of at most 24 characters, in backticks.
pub(super) fn quote_excerpt(text: &str) -> String {
    let text = text.trim_start();
    // Read only as far as is shown, because the line may be the whole reply.
    let short: String = text.chars().take_while(|c| !matches!(c, '\r' | '\n')).take(24).collect();
    let more = if text[short.len()..].trim_start().is_empty() { "" } else { "…" };
    format!("`{}{more}`", short.trim_end())
}

/// Trims the white space of JSON, which is less than that of Unicode.
fn trim_start(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

fn trim_end(text: &str) -> &str {
    text.trim_end_matches([' ', '\t', '\n', '\r'])
}
