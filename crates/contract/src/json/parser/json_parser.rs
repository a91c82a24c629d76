//! Parses JSON text in a single pass from left to right.
//!
//! Without repairs, the parser follows RFC 8259. At each repair level it makes the repairs that the
//! level allows, and records them. It never drops data silently: it reports a duplicate key, a
//! rounded number or half a surrogate pair as a [`JsonDataLoss`] next to the value. It does not
//! search for JSON inside prose; `reply::intake` does that.

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::parse_string;
use super::span_locator::JsonSpanLocator;
use crate::json::pointer_text::{self, JsonPointerSegment};
use crate::json::repair::limit_repairs;
use crate::json::{Repair, RepairKind, RepairLevel, TextSpan, number_literal};
use crate::limits::{MAX_DATA_LOSSES, MAX_DEPTH, MAX_KEY_BYTES, MAX_POINTER_BYTES};

/// Parsed value, with the repairs and data losses of the parse.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedJson {
    /// Parsed JSON value.
    pub value: Value,
    /// Byte range of the value in the text.
    pub span: TextSpan,
    /// Repairs made, in text order. Beyond [`MAX_REPAIRS`](crate::limits::MAX_REPAIRS), they are
    /// merged by kind.
    pub repairs: Vec<Repair>,
    /// Data that the value could not represent: the first [`MAX_DATA_LOSSES`] losses.
    pub data_losses: Vec<JsonDataLoss>,
    /// Total number of data losses, including those not kept.
    pub data_loss_count: usize,
}

/// Information that the text contains and the value does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonDataLoss {
    /// Kind of the data loss.
    pub kind: JsonDataLossKind,
    /// Pointer to the affected member of the value.
    pub pointer: String,
    /// Byte range of the affected text.
    pub span: TextSpan,
}

/// Kinds of information that a value can lose compared with its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonDataLossKind {
    /// A key that its object already contained.
    DuplicateKey,
    /// A number that a JSON value cannot represent exactly.
    LossyNumber,
    /// Half of a surrogate pair.
    LoneSurrogate,
}

/// Error that stopped the parser before the value was complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonParseError {
    /// Pointer to the member that the parser was reading.
    pub pointer: String,
    /// Byte range of the error in the text.
    pub span: TextSpan,
    /// Kind of the error.
    pub kind: JsonParseErrorKind,
}

/// Kinds of parse errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonParseErrorKind {
    /// The text contains something other than what was expected; a repair might have helped.
    Unexpected {
        /// Description of what the parser expected here.
        expected: &'static str,
        /// Repair that the level did not allow, if one applies.
        repair: Option<RepairKind>,
    },
    /// The text ended inside a value.
    EndOfText {
        /// Description of what should have followed.
        expected: &'static str,
    },
    /// Arrays and objects nest deeper than [`MAX_DEPTH`].
    TooDeep,
    /// A key is longer than [`MAX_KEY_BYTES`], or the keys together make a pointer longer than
    /// [`MAX_POINTER_BYTES`].
    PointerTooLong,
}

/// Boxed [`JsonParseError`], so that the result of a successful parse stays small.
#[derive(Debug)]
pub(super) struct BoxedParseError(Box<JsonParseError>);

impl From<BoxedParseError> for JsonParseError {
    fn from(boxed: BoxedParseError) -> Self {
        *boxed.0
    }
}

/// The pointer is filled in on the way out: see `JsonParser::parse_member`.
fn new_error(kind: JsonParseErrorKind, span: TextSpan) -> BoxedParseError {
    BoxedParseError(Box::new(JsonParseError { pointer: String::new(), span, kind }))
}

/// Parses a text that consists of one JSON value and optional white space around it.
pub fn parse_json(text: &str, level: RepairLevel) -> Result<ParsedJson, JsonParseError> {
    let mut reader = JsonParser::new(text, 0, level);
    reader.skip_space()?;
    let mut reading = reader.parse_root()?;
    reader.skip_space()?;
    reading.repairs.append(&mut reader.repairs);
    match reader.peek() {
        None => Ok(reading),
        Some(_) => Err(reader.unexpected_error("the end of the text", None).into()),
    }
}

/// Parses the value that begins at `start`, and ignores everything after it.
pub fn parse_json_prefix(
    text: &str,
    start: usize,
    level: RepairLevel,
) -> Result<ParsedJson, JsonParseError> {
    Ok(JsonParser::new(text, start, level).parse_root()?)
}

/// Skips white space, and comments if the level allows them. Returns the position of the next other
/// character, and the repairs.
pub fn skip_json_space(
    text: &str,
    start: usize,
    level: RepairLevel,
) -> Result<(usize, Vec<Repair>), JsonParseError> {
    let mut reader = JsonParser::new(text, start, level);
    reader.skip_space()?;
    Ok((reader.position, reader.repairs))
}

/// Parses like [`parse_json_prefix`], and returns the pointer and the span of every member. If
/// parsing fails, the result contains the members read before the error.
#[must_use]
pub fn parse_json_spans(text: &str, start: usize, level: RepairLevel) -> Vec<(String, TextSpan)> {
    let mut reader = JsonParser::new(text, start, level);
    reader.span_recorder = Some(JsonSpanRecorder::default());
    let _ = reader.parse_root();
    reader.span_recorder.map(|trail| trail.spans).unwrap_or_default()
}

/// Finds the span of each pointer in the value that begins at `start`: the span of the pointer
/// itself, or of its nearest existing ancestor. Memory grows with the number of pointers, not with
/// the value.
#[must_use]
pub fn locate_pointers(
    text: &str,
    start: usize,
    level: RepairLevel,
    pointers: &[&str],
) -> Vec<Option<TextSpan>> {
    let mut reader = JsonParser::new(text, start, level);
    reader.locator = Some(JsonSpanLocator::new(pointers));
    let _ = reader.parse_root();
    let locator = reader.locator.unwrap_or_default();
    pointers.iter().map(|pointer| locator.find_span(pointer)).collect()
}

/// The most members for which an object reserves memory before it is read.
const MAX_MEMBER_HINT: usize = 16;

/// Current pointer and recorded spans, kept only if the caller requests spans.
#[derive(Default)]
struct JsonSpanRecorder {
    pointer: String,
    spans: Vec<(String, TextSpan)>,
}

pub(super) struct JsonParser<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) position: usize,
    depth: usize,
    /// Number of members of the last object at each depth: objects of one list are alike.
    member_counts: [u8; MAX_DEPTH + 1],
    pub(super) level: RepairLevel,
    pub(super) repairs: Vec<Repair>,
    data_losses: Vec<JsonDataLoss>,
    data_loss_count: usize,
    /// Length of the pointer to the current value, in bytes.
    pointer_bytes: usize,
    span_recorder: Option<JsonSpanRecorder>,
    locator: Option<JsonSpanLocator>,
}

impl<'t> JsonParser<'t> {
    fn new(text: &'t str, position: usize, level: RepairLevel) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            position,
            depth: 0,
            member_counts: [0; MAX_DEPTH + 1],
            level,
            repairs: Vec::new(),
            data_losses: Vec::new(),
            data_loss_count: 0,
            pointer_bytes: 0,
            span_recorder: None,
            locator: None,
        }
    }

    fn parse_root(&mut self) -> Result<ParsedJson, BoxedParseError> {
        let start = self.position;
        let value = self.parse_value()?;
        Ok(ParsedJson {
            value,
            span: TextSpan::new(start, self.position),
            repairs: limit_repairs(std::mem::take(&mut self.repairs)),
            data_losses: std::mem::take(&mut self.data_losses),
            data_loss_count: self.data_loss_count,
        })
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn parse_value(&mut self) -> Result<Value, BoxedParseError> {
        let start = self.position;
        let value = match self.peek() {
            Some(b'{') => self.parse_nested(Self::parse_object)?,
            Some(b'[') => self.parse_nested(Self::parse_array)?,
            Some(b'"') => {
                Value::String(self.parse_string(b'"', parse_string::JsonStringRole::Value)?)
            }
            Some(b'-' | b'0'..=b'9') => self.parse_number()?,
            Some(_) => self.parse_word()?,
            None => return Err(self.end_of_text_error("a value")),
        };
        if let Some(trail) = &mut self.span_recorder {
            trail.spans.push((trail.pointer.clone(), TextSpan::new(start, self.position)));
        }
        if let Some(locator) = &mut self.locator {
            locator.record_span(TextSpan::new(start, self.position));
        }
        Ok(value)
    }

    fn parse_nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Value, BoxedParseError>,
    ) -> Result<Value, BoxedParseError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error_here(JsonParseErrorKind::TooDeep));
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn parse_object(&mut self) -> Result<Value, BoxedParseError> {
        let mut members = Map::with_capacity(usize::from(self.member_counts[self.depth]));
        self.position += 1;
        let mut comma = None;
        loop {
            self.skip_space()?;
            match self.peek() {
                Some(b'}') => {
                    if let Some(comma) = comma {
                        self.record_repair(RepairKind::TrailingComma, comma, comma + 1, "a key")?;
                    }
                    self.position += 1;
                    self.member_counts[self.depth] = members.len().min(MAX_MEMBER_HINT) as u8;
                    return Ok(Value::Object(members));
                }
                None => {
                    self.record_repair_at_end(RepairKind::UnterminatedObject, "a key or `}`")?;
                    return Ok(Value::Object(members));
                }
                Some(_) => {}
            }
            let start = self.position;
            let key = self.parse_key()?;
            let key_span = TextSpan::new(start, self.position);
            if key.len() > MAX_KEY_BYTES {
                return Err(new_error(JsonParseErrorKind::PointerTooLong, key_span));
            }
            let value =
                self.parse_member(JsonPointerSegment::Key(&key), Self::parse_member_value)?;
            match members.entry(key) {
                Entry::Vacant(entry) => _ = entry.insert(value),
                Entry::Occupied(mut entry) => {
                    entry.insert(value);
                    let key = entry.key().clone();
                    self.record_data_loss(JsonDataLossKind::DuplicateKey, Some(&key), key_span);
                }
            }
            comma = self.parse_comma(b'}', "`,` or `}`")?;
        }
    }

    /// Parses the colon and the value after a key.
    fn parse_member_value(&mut self) -> Result<Value, BoxedParseError> {
        self.skip_space()?;
        match self.peek() {
            Some(b':') => self.position += 1,
            None => return Err(self.end_of_text_error("`:`")),
            Some(_) => {
                self.record_repair(RepairKind::MissingColon, self.position, self.position, "`:`")?;
            }
        }
        self.skip_space()?;
        if self.peek().is_none() && self.level == RepairLevel::Guess {
            // Nothing is known about a value that was cut off after its key: use null.
            self.record_repair_at_end(RepairKind::UnterminatedObject, "a value")?;
            return Ok(Value::Null);
        }
        self.parse_value()
    }

    fn parse_array(&mut self) -> Result<Value, BoxedParseError> {
        let mut items = Vec::new();
        self.position += 1;
        let mut comma = None;
        loop {
            self.skip_space()?;
            match self.peek() {
                Some(b']') => {
                    if let Some(comma) = comma {
                        self.record_repair(RepairKind::TrailingComma, comma, comma + 1, "a value")?;
                    }
                    self.position += 1;
                    return Ok(Value::Array(items));
                }
                None => {
                    self.record_repair_at_end(RepairKind::UnterminatedArray, "a value or `]`")?;
                    return Ok(Value::Array(items));
                }
                Some(_) => {}
            }
            let item =
                self.parse_member(JsonPointerSegment::Index(items.len()), Self::parse_value)?;
            items.push(item);
            comma = self.parse_comma(b']', "`,` or `]`")?;
        }
    }

    /// Parses what follows a member. Returns the position of a comma; returns `None` at a closing
    /// bracket, which the caller consumes, and after the repair of a missing comma.
    fn parse_comma(
        &mut self,
        close: u8,
        expected: &'static str,
    ) -> Result<Option<usize>, BoxedParseError> {
        self.skip_space()?;
        match self.peek() {
            Some(b',') => {
                self.position += 1;
                Ok(Some(self.position - 1))
            }
            Some(byte) if byte == close => Ok(None),
            // The caller's loop records what the end of the text cut off.
            None if self.level == RepairLevel::Guess => Ok(None),
            None => Err(self.end_of_text_error(expected)),
            Some(
                b'"' | b'{' | b'[' | b'\'' | b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_',
            ) => {
                self.record_repair(
                    RepairKind::MissingComma,
                    self.position,
                    self.position,
                    expected,
                )?;
                Ok(None)
            }
            Some(_) => Err(self.unexpected_error(expected, None)),
        }
    }

    /// Parses one member with its segment in the current pointer. The segment is prepended to the
    /// pointers of errors and data losses from inside, so that the path without errors costs
    /// nothing.
    fn parse_member(
        &mut self,
        segment: JsonPointerSegment<'_>,
        read: impl FnOnce(&mut Self) -> Result<Value, BoxedParseError>,
    ) -> Result<Value, BoxedParseError> {
        let flaws = self.data_losses.len();
        let pointer_bytes = self.pointer_bytes;
        self.pointer_bytes += segment.pointer_len();
        if self.pointer_bytes > MAX_POINTER_BYTES {
            return Err(self.error_here(JsonParseErrorKind::PointerTooLong));
        }
        let outer = self.locator.as_mut().map(|locator| locator.enter_member(segment));
        let length = self.span_recorder.as_mut().map(|trail| {
            let length = trail.pointer.len();
            segment.push_to(&mut trail.pointer);
            length
        });
        let outcome = read(self);
        self.pointer_bytes = pointer_bytes;
        if let (Some(locator), Some(outer)) = (&mut self.locator, outer) {
            locator.leave_member(outer);
        }
        if let (Some(trail), Some(length)) = (&mut self.span_recorder, length) {
            trail.pointer.truncate(length);
        }
        for flaw in &mut self.data_losses[flaws..] {
            flaw.pointer = segment.prepend_to(&flaw.pointer);
        }
        outcome.map_err(|mut stop| {
            stop.0.pointer = segment.prepend_to(&stop.0.pointer);
            stop
        })
    }

    fn parse_number(&mut self) -> Result<Value, BoxedParseError> {
        let start = self.position;
        if self.peek() == Some(b'-') {
            self.position += 1;
        }
        match self.peek() {
            Some(b'0') => self.position += 1,
            Some(b'1'..=b'9') => self.skip_digits(),
            None => return Err(self.end_of_text_error("a digit")),
            Some(_) => return Err(self.unexpected_error("a digit", None)),
        }
        if self.peek() == Some(b'.') {
            self.position += 1;
            self.expect_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.position += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.position += 1;
            }
            self.expect_digits()?;
        }
        let span = TextSpan::new(start, self.position);
        match number_literal::parse_number(&self.text[span.range()]) {
            Some(value) => Ok(value),
            None => {
                self.record_data_loss(JsonDataLossKind::LossyNumber, None, span);
                Ok(Value::Null)
            }
        }
    }

    fn skip_digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.position += 1;
        }
    }

    fn expect_digits(&mut self) -> Result<(), BoxedParseError> {
        match self.peek() {
            Some(b'0'..=b'9') => {
                self.skip_digits();
                Ok(())
            }
            None => Err(self.end_of_text_error("a digit")),
            Some(_) => Err(self.unexpected_error("a digit", None)),
        }
    }

    /// Records data that the value cannot represent, at the current value or at one of its members.
    pub(super) fn record_data_loss(
        &mut self,
        kind: JsonDataLossKind,
        member: Option<&str>,
        span: TextSpan,
    ) {
        self.data_loss_count += 1;
        if self.data_losses.len() < MAX_DATA_LOSSES {
            let pointer =
                member.map_or_else(String::new, |key| pointer_text::child_pointer("", key));
            self.data_losses.push(JsonDataLoss { kind, pointer, span });
        }
    }

    /// Records a repair, or returns an error if the level does not allow its class.
    pub(super) fn record_repair(
        &mut self,
        kind: RepairKind,
        start: usize,
        end: usize,
        expected: &'static str,
    ) -> Result<(), BoxedParseError> {
        let span = TextSpan::new(start, end);
        if self.level.allows(kind.class()) {
            self.repairs.push(Repair::new(kind, span));
            return Ok(());
        }
        let span = TextSpan::new(start, end.max(self.next_char_boundary(start)));
        let kind = JsonParseErrorKind::Unexpected { expected, repair: Some(kind) };
        Err(new_error(kind, span))
    }

    /// Records a repair of text that was cut off at the end, or returns an error if the level does
    /// not allow its class.
    pub(super) fn record_repair_at_end(
        &mut self,
        kind: RepairKind,
        expected: &'static str,
    ) -> Result<(), BoxedParseError> {
        if self.level.allows(kind.class()) {
            let end = self.bytes.len();
            self.repairs.push(Repair::new(kind, TextSpan::new(end, end)));
            return Ok(());
        }
        Err(self.end_of_text_error(expected))
    }

    pub(super) fn unexpected_error(
        &self,
        expected: &'static str,
        repair: Option<RepairKind>,
    ) -> BoxedParseError {
        self.error_here(JsonParseErrorKind::Unexpected { expected, repair })
    }

    pub(super) fn end_of_text_error(&self, expected: &'static str) -> BoxedParseError {
        let end = self.bytes.len();
        let kind = JsonParseErrorKind::EndOfText { expected };
        new_error(kind, TextSpan::new(end, end))
    }

    fn error_here(&self, kind: JsonParseErrorKind) -> BoxedParseError {
        let span = TextSpan::new(self.position, self.next_char_boundary(self.position));
        new_error(kind, span)
    }

    fn next_char_boundary(&self, start: usize) -> usize {
        let mut end = (start + 1).min(self.bytes.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        end
    }
}
