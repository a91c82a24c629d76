//! Reads JSON text once, from left to right, and tells everything it noticed.
//!
//! Below its repair level it behaves as RFC 8259 says. At a level it mends what that level allows,
//! and records it. It never drops anything: a repeated key, a rounded number or half a surrogate
//! pair is a [`JsonDataLoss`] beside the value. It does not look for JSON inside prose (`reply::intake`).

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::parse_string;
use super::span_locator::JsonSpanLocator;
use crate::json::pointer_text::{self, JsonPointerSegment};
use crate::json::repair::limit_repairs;
use crate::json::{Repair, RepairKind, RepairLevel, TextSpan, number_literal};
use crate::limits::{MAX_DATA_LOSSES, MAX_DEPTH, MAX_KEY_BYTES, MAX_POINTER_BYTES};

/// A value that was read, and what the reader noticed.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedJson {
    /// The value.
    pub value: Value,
    /// The bytes it came from.
    pub span: TextSpan,
    /// The mends, in the order of the text.
    pub repairs: Vec<Repair>,
    /// What the value could not hold: the first [`MAX_FLAWS`].
    pub data_losses: Vec<JsonDataLoss>,
    /// How many flaws there are in all.
    pub data_loss_count: usize,
}

/// Something the text says and the value does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonDataLoss {
    /// What was lost.
    pub kind: JsonDataLossKind,
    /// The place in the value.
    pub pointer: String,
    /// The place in the text.
    pub span: TextSpan,
}

/// The ways a value can say less than its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonDataLossKind {
    /// A key that its object already had.
    DuplicateKey,
    /// A number beyond what a value can hold.
    LossyNumber,
    /// Half of a surrogate pair.
    LoneSurrogate,
}

/// Why reading stopped before the value was whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonParseError {
    /// Where in the value it happened.
    pub pointer: String,
    /// Where in the text.
    pub span: TextSpan,
    /// What happened.
    pub kind: JsonParseErrorKind,
}

/// The ways a reading can stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonParseErrorKind {
    /// Something else stands where this was expected; a repair might have helped.
    Unexpected {
        /// What should stand here.
        expected: &'static str,
        /// The repair that the level did not allow.
        repair: Option<RepairKind>,
    },
    /// The text ended inside a value.
    EndOfText {
        /// What should have followed.
        expected: &'static str,
    },
    /// Nesting beyond [`MAX_DEPTH`].
    TooDeep,
    /// A key beyond [`MAX_KEY_BYTES`], or keys that together make a pointer beyond
    /// [`MAX_POINTER_BYTES`].
    PointerTooLong,
}

/// Reads a text that is one JSON value and nothing else but white space.
pub fn parse_json(text: &str, level: RepairLevel) -> Result<ParsedJson, JsonParseError> {
    let mut reader = JsonParser::new(text, 0, level);
    reader.skip_space()?;
    let mut reading = reader.parse_root()?;
    reader.skip_space()?;
    reading.repairs.append(&mut reader.repairs);
    match reader.peek() {
        None => Ok(reading),
        Some(_) => Err(reader.unexpected_error("the end of the text", None)),
    }
}

/// Reads the one value that begins at `start`; what follows it is not looked at.
pub fn parse_json_prefix(
    text: &str,
    start: usize,
    level: RepairLevel,
) -> Result<ParsedJson, JsonParseError> {
    JsonParser::new(text, start, level).parse_root()
}

/// Passes over white space, and over comments where they may be mended: where something else
/// stands, and the mends.
pub fn skip_json_space(
    text: &str,
    start: usize,
    level: RepairLevel,
) -> Result<(usize, Vec<Repair>), JsonParseError> {
    let mut reader = JsonParser::new(text, start, level);
    reader.skip_space()?;
    Ok((reader.position, reader.repairs))
}

/// Reads like [`parse_json_prefix`] and tells where every member stands: its pointer and its bytes.
/// Stops quietly where reading stops; what came before is told all the same.
#[must_use]
pub fn parse_json_spans(text: &str, start: usize, level: RepairLevel) -> Vec<(String, TextSpan)> {
    let mut reader = JsonParser::new(text, start, level);
    reader.span_recorder = Some(JsonSpanRecorder::default());
    let _ = reader.parse_root();
    reader.span_recorder.map(|trail| trail.spans).unwrap_or_default()
}

/// Finds the stretch of the text for each pointer in the value that begins at `start`: its own, or
/// that of the nearest thing around it that exists. Memory grows with the pointers, not the value.
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

/// Where the reader is, kept only when somebody asked for places.
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
    pub(super) level: RepairLevel,
    pub(super) repairs: Vec<Repair>,
    data_losses: Vec<JsonDataLoss>,
    data_loss_count: usize,
    /// Bytes of the pointer of what is being read.
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
            level,
            repairs: Vec::new(),
            data_losses: Vec::new(),
            data_loss_count: 0,
            pointer_bytes: 0,
            span_recorder: None,
            locator: None,
        }
    }

    fn parse_root(&mut self) -> Result<ParsedJson, JsonParseError> {
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

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    /// White space, and what may be mended among it: comments, spaces of Unicode.
    fn skip_space(&mut self) -> Result<(), JsonParseError> {
        loop {
            let rest = &self.bytes[self.position..];
            let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            self.position += rest.iter().take_while(|byte| is_space(byte)).count();
            match self.peek() {
                Some(b'/') if self.skip_comment()? => {}
                Some(128..) if self.skip_unicode_space()? => {}
                _ => return Ok(()),
            }
        }
    }

    /// A comment, passed over and told; false where none begins here.
    fn skip_comment(&mut self) -> Result<bool, JsonParseError> {
        let start = self.position;
        let rest = &self.bytes[start..];
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            match self.text[start + 2..].find("*/") {
                Some(length) => length + 4,
                None => return Err(self.end_of_text_error("`*/`")),
            }
        } else {
            return Ok(false);
        };
        self.record_repair(
            RepairKind::Comment,
            start,
            start + length,
            "a value or a closing bracket",
        )?;
        self.position = start + length;
        Ok(true)
    }

    fn parse_value(&mut self) -> Result<Value, JsonParseError> {
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
        read: impl FnOnce(&mut Self) -> Result<Value, JsonParseError>,
    ) -> Result<Value, JsonParseError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error_here(JsonParseErrorKind::TooDeep));
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn parse_object(&mut self) -> Result<Value, JsonParseError> {
        let mut members = Map::new();
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
                return Err(JsonParseError {
                    pointer: String::new(),
                    span: key_span,
                    kind: JsonParseErrorKind::PointerTooLong,
                });
            }
            let value =
                self.parse_member(JsonPointerSegment::Key(&key), Self::parse_member_value)?;
            match members.entry(key) {
                Entry::Vacant(place) => _ = place.insert(value),
                Entry::Occupied(mut place) => {
                    place.insert(value);
                    let key = place.key().clone();
                    self.record_data_loss(JsonDataLossKind::DuplicateKey, Some(&key), key_span);
                }
            }
            comma = self.parse_comma(b'}', "`,` or `}`")?;
        }
    }

    /// What follows a key: the colon and the value.
    fn parse_member_value(&mut self) -> Result<Value, JsonParseError> {
        self.skip_space()?;
        match self.peek() {
            Some(b':') => self.position += 1,
            None => return Err(self.end_of_text_error("`:`")),
            Some(_) => {
                self.record_repair(RepairKind::MissingColon, self.position, self.position, "`:`")?
            }
        }
        self.skip_space()?;
        if self.peek().is_none() && self.level == RepairLevel::Guess {
            // A key whose value was cut off says nothing about the value: null is the least claim.
            self.record_repair_at_end(RepairKind::UnterminatedObject, "a value")?;
            return Ok(Value::Null);
        }
        self.parse_value()
    }

    fn parse_array(&mut self) -> Result<Value, JsonParseError> {
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

    /// After a member: a comma (its place is given back), or the closing bracket (left for the
    /// loop), or a mend.
    fn parse_comma(
        &mut self,
        close: u8,
        expected: &'static str,
    ) -> Result<Option<usize>, JsonParseError> {
        self.skip_space()?;
        match self.peek() {
            Some(b',') => {
                self.position += 1;
                Ok(Some(self.position - 1))
            }
            Some(byte) if byte == close => Ok(None),
            // The loop records what the end of the text cut off.
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

    /// Reads one member with its segment on the trail, and puts the segment before every pointer
    /// that comes back from inside. On the straight path this costs nothing.
    fn parse_member(
        &mut self,
        segment: JsonPointerSegment<'_>,
        read: impl FnOnce(&mut Self) -> Result<Value, JsonParseError>,
    ) -> Result<Value, JsonParseError> {
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
            stop.pointer = segment.prepend_to(&stop.pointer);
            stop
        })
    }

    fn parse_number(&mut self) -> Result<Value, JsonParseError> {
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

    fn expect_digits(&mut self) -> Result<(), JsonParseError> {
        match self.peek() {
            Some(b'0'..=b'9') => {
                self.skip_digits();
                Ok(())
            }
            None => Err(self.end_of_text_error("a digit")),
            Some(_) => Err(self.unexpected_error("a digit", None)),
        }
    }

    /// Records something that the value cannot hold, at what is being read or at a member of it.
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

    /// Records a mend, or stops where its class is not allowed.
    pub(super) fn record_repair(
        &mut self,
        kind: RepairKind,
        start: usize,
        end: usize,
        expected: &'static str,
    ) -> Result<(), JsonParseError> {
        let span = TextSpan::new(start, end);
        if self.level.allows(kind.class()) {
            self.repairs.push(Repair::new(kind, span));
            return Ok(());
        }
        let span = TextSpan::new(start, end.max(self.next_char_boundary(start)));
        let kind = JsonParseErrorKind::Unexpected { expected, repair: Some(kind) };
        Err(JsonParseError { pointer: String::new(), span, kind })
    }

    /// The same for what the end of the text cut off.
    pub(super) fn record_repair_at_end(
        &mut self,
        kind: RepairKind,
        expected: &'static str,
    ) -> Result<(), JsonParseError> {
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
    ) -> JsonParseError {
        self.error_here(JsonParseErrorKind::Unexpected { expected, repair })
    }

    pub(super) fn end_of_text_error(&self, expected: &'static str) -> JsonParseError {
        let end = self.bytes.len();
        let kind = JsonParseErrorKind::EndOfText { expected };
        JsonParseError { pointer: String::new(), span: TextSpan::new(end, end), kind }
    }

    fn error_here(&self, kind: JsonParseErrorKind) -> JsonParseError {
        let span = TextSpan::new(self.position, self.next_char_boundary(self.position));
        JsonParseError { pointer: String::new(), span, kind }
    }

    fn next_char_boundary(&self, start: usize) -> usize {
        let mut end = (start + 1).min(self.bytes.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        end
    }
}
