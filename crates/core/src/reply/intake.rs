//! How a text may carry its object: alone, in a fence, or inside prose.
//!
//! Gives candidates, never a choice: which one is the reply is for the contract to say.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::{
    self, Flaw, FlawKind, Reading, Repair, RepairKind, RepairLevel, Span, Stop, StopKind,
};
use crate::limits::{self, MAX_KEY_BYTES, MAX_POINTER_BYTES, MAX_REPLY_BYTES};

use super::scan::{self, Found};
use super::violation::{Code, Violation, shorten, show};
use super::wrapper;

/// What may stand around the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Intake {
    /// White space.
    #[default]
    Strict,
    /// White space, and one code fence.
    Fenced,
    /// Anything; the object is looked for.
    Tolerant,
}

impl Intake {
    /// Every mode, strictest first.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Fenced, Self::Tolerant];

    /// Reads a mode by its name in contract files.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intake| intake.as_str() == name)
    }

    /// The name in contract files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Fenced => "fenced",
            Self::Tolerant => "tolerant",
        }
    }

    /// The repairs a contract allows when it says nothing about them.
    #[must_use]
    pub fn default_repairs(self) -> RepairLevel {
        match self {
            Self::Strict => RepairLevel::None,
            Self::Fenced | Self::Tolerant => RepairLevel::Lossless,
        }
    }
}

/// Why the model stopped writing, as its provider says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done, or nobody knows otherwise.
    #[default]
    Stop,
    /// It was cut off. Nothing is then mended into acceptance.
    Length,
}

/// The terms on which a text is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// What may stand around the object.
    pub intake: Intake,
    /// Which repairs may be made.
    pub repairs: RepairLevel,
    /// Why the model stopped.
    pub finish: Finish,
}

/// The strictest: bare JSON from a model that was done.
impl Default for Terms {
    fn default() -> Self {
        let intake = Intake::default();
        Self { intake, repairs: intake.default_repairs(), finish: Finish::default() }
    }
}

/// A stretch of the text that may be the reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Where it stands.
    pub span: Span,
    /// What was read there, or why it could not be.
    pub reading: Result<Reading, Box<Violation>>,
    /// Whether it is brackets of prose, as far as its beginning tells.
    pub prose: bool,
    /// Whether nothing closes it: the text ends inside.
    pub unclosed: bool,
}

/// Finds every candidate. No candidate at all is a violation; so are limits.
pub(super) fn candidates(text: &str, terms: Terms) -> Result<Found, Vec<Violation>> {
    let level = terms.repairs;
    if text.len() > MAX_REPLY_BYTES {
        let expected = format!("at most {MAX_REPLY_BYTES} bytes");
        let found = "more than that";
        return Err(vec![Violation::new(Code::TooLarge, "", expected, found)]);
    }
    match terms.intake {
        Intake::Strict => alone(text, Span::new(0, text.len()), level).map(only),
        Intake::Fenced => fenced(text, level).map(only),
        Intake::Tolerant => scan::candidates(text, level),
    }
    .map_err(|violation| vec![*violation])
}

fn only(candidate: Candidate) -> Found {
    Found { candidates: vec![candidate], ..Found::default() }
}

/// The whole of `within` is the object, but for white space.
fn alone(text: &str, within: Span, level: RepairLevel) -> Result<Candidate, Box<Violation>> {
    let inner = &text[within.range()];
    let start = within.start + (inner.len() - trim_start(inner).len());
    let end = within.start + trim_end(inner).len();
    if start >= end {
        return Err(Box::new(Violation::new(Code::NoJson, "", "a JSON object", "nothing")));
    }
    if text.as_bytes()[start] != b'{' {
        return wrapper::find_wrapped_object(text, Span::new(start, end), level)
            .ok_or_else(|| Box::new(no_object_at(text, start, end)));
    }
    let mut reading = json::read_prefix(&text[..end], start, level);
    if let Ok(reading) = &mut reading {
        // A comment behind the object is decoration like one inside it, and is told like one.
        match json::pass_space(&text[..end], reading.span.end, level) {
            Ok((rest, mut comments)) if rest == end => reading.repairs.append(&mut comments),
            _ => {
                let rest = trim_start(&text[reading.span.end..end]);
                let span = Span::new(end - rest.len(), end);
                return Err(Box::new(around("nothing after the object", rest, span)));
            }
        }
    }
    let end = reading.as_ref().map_or(end, |reading| reading.span.end);
    Ok(candidate(text, Span::new(start, end), reading))
}

/// A value of another kind than the contract can take.
pub(super) fn not_an_object(value: &Value, span: Span) -> Violation {
    let violation = Violation::new(Code::NotAnObject, "", "a JSON object", show(value)).at(span);
    match value.as_array().map(Vec::as_slice) {
        Some([Value::Object(_)]) => violation.hinting("send the object itself, not a list of one"),
        _ => violation,
    }
}

/// The text begins with something other than an object: say what.
fn no_object_at(text: &str, start: usize, end: usize) -> Violation {
    let rest = &text[start..end];
    match json::read(rest, RepairLevel::None) {
        Ok(reading) => return not_an_object(&reading.value, Span::new(start, end)),
        Err(stop) if stop.kind == StopKind::TooDeep => return stopped(text, stop),
        Err(_) => {}
    }
    match rest.find('{') {
        Some(length) => {
            let span = Span::new(start, start + length);
            around("nothing before the object", &rest[..length], span)
        }
        None => Violation::new(Code::NoJson, "", "a JSON object", quoted(rest))
            .at(Span::new(start, end)),
    }
}

fn around(expected: &str, found: &str, span: Span) -> Violation {
    let fence = found.starts_with("```") || found.starts_with("~~~");
    let found = if fence { "a code fence".to_owned() } else { quoted(found) };
    Violation::new(Code::TextAroundJson, "", expected, found)
        .hinting(if fence { RepairKind::CodeFence.advice() } else { "send the object alone" })
        .at(span)
}

/// The object alone, or in one fence.
fn fenced(text: &str, level: RepairLevel) -> Result<Candidate, Box<Violation>> {
    let mut repairs = Vec::new();
    let mut start = 0;
    if text.starts_with('\u{feff}') && level >= RepairLevel::Lossless {
        start = '\u{feff}'.len_utf8();
        repairs.push(Repair::new(RepairKind::ByteOrderMark, Span::new(0, start)));
    }
    let mut within = Span::new(start, text.len());
    if let Some((inner, fence)) = fence(text, within) {
        within = inner;
        repairs.push(Repair::new(RepairKind::CodeFence, fence));
    }
    let mut found = alone(text, within, level)?;
    if let Ok(reading) = &mut found.reading {
        repairs.append(&mut reading.repairs);
        reading.repairs = repairs;
    }
    Ok(found)
}

/// The inside of the one fence that encloses `within`, and the fence's own stretch.
pub(super) fn fence(text: &str, within: Span) -> Option<(Span, Span)> {
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
    // Some stop a model at the closing fence, so it may be absent; what matters is the object.
    let kept = content.trim_end_matches(mark);
    let closing = content.len() - kept.len();
    if closing != 0 && closing != length {
        return None;
    }
    let inner = start + length + info;
    Some((Span::new(inner, inner + kept.len()), Span::new(start, end)))
}

/// A candidate from what the reader said.
pub(super) fn candidate(text: &str, span: Span, reading: Result<Reading, Stop>) -> Candidate {
    let reading = reading.map_err(|stop| Box::new(stopped(text, stop)));
    Candidate { span, reading, prose: false, unclosed: false }
}

fn stopped(text: &str, stop: Stop) -> Violation {
    let found = || match text.get(stop.span.range()) {
        Some("") | None => "the end of the reply".to_owned(),
        Some(_) => quoted(&text[stop.span.start..]),
    };
    match stop.kind {
        StopKind::TooDeep => {
            let expected = format!("at most {} levels of nesting", limits::MAX_DEPTH);
            Violation::new(Code::TooDeep, "", expected, "one more")
        }
        StopKind::PointerTooLong => {
            let expected = format!(
                "keys of at most {MAX_KEY_BYTES} bytes, and at most {MAX_POINTER_BYTES} in all keys around a value"
            );
            Violation::new(Code::PointerTooLong, "", expected, found()).hinting("use shorter keys")
        }
        StopKind::EndOfText { expected } => {
            Violation::new(Code::Truncated, stop.pointer, expected, "the end of the reply")
                .hinting("send the whole object again, shorter if it was cut off")
        }
        StopKind::Unexpected { expected, repair } => {
            let violation = Violation::new(Code::InvalidJson, stop.pointer, expected, found());
            match repair {
                Some(kind) => violation.hinting(kind.advice()),
                None => violation,
            }
        }
    }
    .at(stop.span)
}

/// What a flaw of the reading means for the reply.
pub(super) fn flawed(text: &str, flaw: &Flaw) -> Violation {
    let written = shorten(&text[flaw.span.range()]);
    let violation = |code, expected, found| Violation::new(code, &flaw.pointer, expected, found);
    match flaw.kind {
        FlawKind::DuplicateKey => {
            violation(Code::DuplicateKey, "each key once", format!("{written} again"))
                .hinting("keep one of the two")
        }
        FlawKind::LossyNumber => {
            let expected = "a number that a double or a 64-bit integer holds without loss";
            violation(Code::LossyNumber, expected, written)
                .hinting("write fewer digits or a smaller number, or put it in a string")
        }
        FlawKind::LoneSurrogate => {
            violation(Code::LoneSurrogate, "both halves of the character", written)
                .hinting("write the character itself")
        }
    }
    .at(flaw.span)
}

/// A piece of the reply as a violation shows it: one line, in quotes.
pub(super) fn quoted(text: &str) -> String {
    let text = text.trim_start();
    // Only as far as is shown: the line may be the whole reply.
    let short: String = text.chars().take_while(|c| !matches!(c, '\r' | '\n')).take(24).collect();
    let more = if text[short.len()..].trim_start().is_empty() { "" } else { "…" };
    format!("`{}{more}`", short.trim_end())
}

/// JSON's white space, which is less than Unicode's.
fn trim_start(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

fn trim_end(text: &str) -> &str {
    text.trim_end_matches([' ', '\t', '\n', '\r'])
}
