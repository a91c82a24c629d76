//! Reads JSON text once, from left to right, and tells everything it noticed.
//!
//! Below its repair level it behaves as RFC 8259 says. At a level it mends what that level allows,
//! and records it. It never drops anything: a repeated key, a rounded number or half a surrogate
//! pair is a [`Flaw`] beside the value. It does not look for JSON inside prose (`reply::intake`).

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::locator::Locator;
use super::string;
use crate::json::pointer::{self, Segment};
use crate::json::repair::fold_repairs;
use crate::json::{Repair, RepairKind, RepairLevel, Span, number};
use crate::limits::{MAX_DEPTH, MAX_FLAWS, MAX_KEY_BYTES, MAX_POINTER_BYTES};

/// A value that was read, and what the reader noticed.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The value.
    pub value: Value,
    /// The bytes it came from.
    pub span: Span,
    /// The mends, in the order of the text.
    pub repairs: Vec<Repair>,
    /// What the value could not hold: the first [`MAX_FLAWS`].
    pub flaws: Vec<Flaw>,
    /// How many flaws there are in all.
    pub flaw_count: usize,
}

/// Something the text says and the value does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// What was lost.
    pub kind: FlawKind,
    /// The place in the value.
    pub pointer: String,
    /// The place in the text.
    pub span: Span,
}

/// The ways a value can say less than its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlawKind {
    /// A key that its object already had.
    DuplicateKey,
    /// A number beyond what a value can hold.
    LossyNumber,
    /// Half of a surrogate pair.
    LoneSurrogate,
}

/// Why reading stopped before the value was whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Where in the value it happened.
    pub pointer: String,
    /// Where in the text.
    pub span: Span,
    /// What happened.
    pub kind: StopKind,
}

/// The ways a reading can stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopKind {
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
pub fn read(text: &str, level: RepairLevel) -> Result<Reading, Stop> {
    let mut reader = Reader::new(text, 0, level);
    reader.skip_space()?;
    let mut reading = reader.reading()?;
    reader.skip_space()?;
    reading.repairs.append(&mut reader.repairs);
    match reader.peek() {
        None => Ok(reading),
        Some(_) => Err(reader.unexpected("the end of the text", None)),
    }
}

/// Reads the one value that begins at `start`; what follows it is not looked at.
pub fn read_prefix(text: &str, start: usize, level: RepairLevel) -> Result<Reading, Stop> {
    Reader::new(text, start, level).reading()
}

/// Passes over white space, and over comments where they may be mended: where something else
/// stands, and the mends.
pub fn pass_space(
    text: &str,
    start: usize,
    level: RepairLevel,
) -> Result<(usize, Vec<Repair>), Stop> {
    let mut reader = Reader::new(text, start, level);
    reader.skip_space()?;
    Ok((reader.position, reader.repairs))
}

/// Reads like [`read_prefix`] and tells where every member stands: its pointer and its bytes.
/// Stops quietly where reading stops; what came before is told all the same.
#[must_use]
pub fn read_spans(text: &str, start: usize, level: RepairLevel) -> Vec<(String, Span)> {
    let mut reader = Reader::new(text, start, level);
    reader.trail = Some(Trail::default());
    let _ = reader.reading();
    reader.trail.map(|trail| trail.seen).unwrap_or_default()
}

/// Finds the stretch of the text for each pointer in the value that begins at `start`: its own, or
/// that of the nearest thing around it that exists. Memory grows with the pointers, not the value.
#[must_use]
pub fn locate(
    text: &str,
    start: usize,
    level: RepairLevel,
    pointers: &[&str],
) -> Vec<Option<Span>> {
    let mut reader = Reader::new(text, start, level);
    reader.locator = Some(Locator::new(pointers));
    let _ = reader.reading();
    let locator = reader.locator.unwrap_or_default();
    pointers.iter().map(|pointer| locator.span(pointer)).collect()
}

/// Where the reader is, kept only when somebody asked for places.
#[derive(Default)]
struct Trail {
    at: String,
    seen: Vec<(String, Span)>,
}

pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) position: usize,
    depth: usize,
    pub(super) level: RepairLevel,
    pub(super) repairs: Vec<Repair>,
    flaws: Vec<Flaw>,
    flaw_count: usize,
    /// Bytes of the pointer of what is being read.
    pointer_bytes: usize,
    trail: Option<Trail>,
    locator: Option<Locator>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, position: usize, level: RepairLevel) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            position,
            depth: 0,
            level,
            repairs: Vec::new(),
            flaws: Vec::new(),
            flaw_count: 0,
            pointer_bytes: 0,
            trail: None,
            locator: None,
        }
    }

    fn reading(&mut self) -> Result<Reading, Stop> {
        let start = self.position;
        let value = self.value()?;
        Ok(Reading {
            value,
            span: Span::new(start, self.position),
            repairs: fold_repairs(std::mem::take(&mut self.repairs)),
            flaws: std::mem::take(&mut self.flaws),
            flaw_count: self.flaw_count,
        })
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    /// White space, and what may be mended among it: comments, spaces of Unicode.
    fn skip_space(&mut self) -> Result<(), Stop> {
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
    fn skip_comment(&mut self) -> Result<bool, Stop> {
        let start = self.position;
        let rest = &self.bytes[start..];
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            match self.text[start + 2..].find("*/") {
                Some(length) => length + 4,
                None => return Err(self.end_of_text("`*/`")),
            }
        } else {
            return Ok(false);
        };
        self.mend(RepairKind::Comment, start, start + length, "a value or a closing bracket")?;
        self.position = start + length;
        Ok(true)
    }

    fn value(&mut self) -> Result<Value, Stop> {
        let start = self.position;
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Value::String(self.string(b'"', string::Place::Value)?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => self.word()?,
            None => return Err(self.end_of_text("a value")),
        };
        if let Some(trail) = &mut self.trail {
            trail.seen.push((trail.at.clone(), Span::new(start, self.position)));
        }
        if let Some(locator) = &mut self.locator {
            locator.record(Span::new(start, self.position));
        }
        Ok(value)
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Value, Stop>,
    ) -> Result<Value, Stop> {
        if self.depth == MAX_DEPTH {
            return Err(self.stop(StopKind::TooDeep));
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, Stop> {
        let mut members = Map::new();
        self.position += 1;
        let mut comma = None;
        loop {
            self.skip_space()?;
            match self.peek() {
                Some(b'}') => {
                    if let Some(comma) = comma {
                        self.mend(RepairKind::TrailingComma, comma, comma + 1, "a key")?;
                    }
                    self.position += 1;
                    return Ok(Value::Object(members));
                }
                None => {
                    self.mend_end(RepairKind::UnterminatedObject, "a key or `}`")?;
                    return Ok(Value::Object(members));
                }
                Some(_) => {}
            }
            let start = self.position;
            let key = self.key()?;
            let key_span = Span::new(start, self.position);
            if key.len() > MAX_KEY_BYTES {
                return Err(Stop {
                    pointer: String::new(),
                    span: key_span,
                    kind: StopKind::PointerTooLong,
                });
            }
            let value = self.member(Segment::Key(&key), Self::member_value)?;
            match members.entry(key) {
                Entry::Vacant(place) => _ = place.insert(value),
                Entry::Occupied(mut place) => {
                    place.insert(value);
                    let key = place.key().clone();
                    self.flaw(FlawKind::DuplicateKey, Some(&key), key_span);
                }
            }
            comma = self.comma(b'}', "`,` or `}`")?;
        }
    }

    /// What follows a key: the colon and the value.
    fn member_value(&mut self) -> Result<Value, Stop> {
        self.skip_space()?;
        match self.peek() {
            Some(b':') => self.position += 1,
            None => return Err(self.end_of_text("`:`")),
            Some(_) => self.mend(RepairKind::MissingColon, self.position, self.position, "`:`")?,
        }
        self.skip_space()?;
        if self.peek().is_none() && self.level == RepairLevel::Guess {
            // A key whose value was cut off says nothing about the value: null is the least claim.
            self.mend_end(RepairKind::UnterminatedObject, "a value")?;
            return Ok(Value::Null);
        }
        self.value()
    }

    fn array(&mut self) -> Result<Value, Stop> {
        let mut items = Vec::new();
        self.position += 1;
        let mut comma = None;
        loop {
            self.skip_space()?;
            match self.peek() {
                Some(b']') => {
                    if let Some(comma) = comma {
                        self.mend(RepairKind::TrailingComma, comma, comma + 1, "a value")?;
                    }
                    self.position += 1;
                    return Ok(Value::Array(items));
                }
                None => {
                    self.mend_end(RepairKind::UnterminatedArray, "a value or `]`")?;
                    return Ok(Value::Array(items));
                }
                Some(_) => {}
            }
            let item = self.member(Segment::Index(items.len()), Self::value)?;
            items.push(item);
            comma = self.comma(b']', "`,` or `]`")?;
        }
    }

    /// After a member: a comma (its place is given back), or the closing bracket (left for the
    /// loop), or a mend.
    fn comma(&mut self, close: u8, expected: &'static str) -> Result<Option<usize>, Stop> {
        self.skip_space()?;
        match self.peek() {
            Some(b',') => {
                self.position += 1;
                Ok(Some(self.position - 1))
            }
            Some(byte) if byte == close => Ok(None),
            // The loop records what the end of the text cut off.
            None if self.level == RepairLevel::Guess => Ok(None),
            None => Err(self.end_of_text(expected)),
            Some(
                b'"' | b'{' | b'[' | b'\'' | b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_',
            ) => {
                self.mend(RepairKind::MissingComma, self.position, self.position, expected)?;
                Ok(None)
            }
            Some(_) => Err(self.unexpected(expected, None)),
        }
    }

    /// Reads one member with its segment on the trail, and puts the segment before every pointer
    /// that comes back from inside. On the straight path this costs nothing.
    fn member(
        &mut self,
        segment: Segment<'_>,
        read: impl FnOnce(&mut Self) -> Result<Value, Stop>,
    ) -> Result<Value, Stop> {
        let flaws = self.flaws.len();
        let pointer_bytes = self.pointer_bytes;
        self.pointer_bytes += segment.bytes();
        if self.pointer_bytes > MAX_POINTER_BYTES {
            return Err(self.stop(StopKind::PointerTooLong));
        }
        let outer = self.locator.as_mut().map(|locator| locator.enter(segment));
        let length = self.trail.as_mut().map(|trail| {
            let length = trail.at.len();
            segment.push(&mut trail.at);
            length
        });
        let outcome = read(self);
        self.pointer_bytes = pointer_bytes;
        if let (Some(locator), Some(outer)) = (&mut self.locator, outer) {
            locator.leave(outer);
        }
        if let (Some(trail), Some(length)) = (&mut self.trail, length) {
            trail.at.truncate(length);
        }
        for flaw in &mut self.flaws[flaws..] {
            flaw.pointer = segment.before(&flaw.pointer);
        }
        outcome.map_err(|mut stop| {
            stop.pointer = segment.before(&stop.pointer);
            stop
        })
    }

    fn number(&mut self) -> Result<Value, Stop> {
        let start = self.position;
        if self.peek() == Some(b'-') {
            self.position += 1;
        }
        match self.peek() {
            Some(b'0') => self.position += 1,
            Some(b'1'..=b'9') => self.digits(),
            None => return Err(self.end_of_text("a digit")),
            Some(_) => return Err(self.unexpected("a digit", None)),
        }
        if self.peek() == Some(b'.') {
            self.position += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.position += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.position += 1;
            }
            self.some_digits()?;
        }
        let span = Span::new(start, self.position);
        match number::parse(&self.text[span.range()]) {
            Some(value) => Ok(value),
            None => {
                self.flaw(FlawKind::LossyNumber, None, span);
                Ok(Value::Null)
            }
        }
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.position += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), Stop> {
        match self.peek() {
            Some(b'0'..=b'9') => {
                self.digits();
                Ok(())
            }
            None => Err(self.end_of_text("a digit")),
            Some(_) => Err(self.unexpected("a digit", None)),
        }
    }

    /// Records something that the value cannot hold, at what is being read or at a member of it.
    pub(super) fn flaw(&mut self, kind: FlawKind, member: Option<&str>, span: Span) {
        self.flaw_count += 1;
        if self.flaws.len() < MAX_FLAWS {
            let pointer = member.map_or_else(String::new, |key| pointer::child("", key));
            self.flaws.push(Flaw { kind, pointer, span });
        }
    }

    /// Records a mend, or stops where its class is not allowed.
    pub(super) fn mend(
        &mut self,
        kind: RepairKind,
        start: usize,
        end: usize,
        expected: &'static str,
    ) -> Result<(), Stop> {
        let span = Span::new(start, end);
        if self.level.allows(kind.class()) {
            self.repairs.push(Repair::new(kind, span));
            return Ok(());
        }
        let span = Span::new(start, end.max(self.next_character(start)));
        let kind = StopKind::Unexpected { expected, repair: Some(kind) };
        Err(Stop { pointer: String::new(), span, kind })
    }

    /// The same for what the end of the text cut off.
    pub(super) fn mend_end(
        &mut self,
        kind: RepairKind,
        expected: &'static str,
    ) -> Result<(), Stop> {
        if self.level.allows(kind.class()) {
            let end = self.bytes.len();
            self.repairs.push(Repair::new(kind, Span::new(end, end)));
            return Ok(());
        }
        Err(self.end_of_text(expected))
    }

    pub(super) fn unexpected(&self, expected: &'static str, repair: Option<RepairKind>) -> Stop {
        self.stop(StopKind::Unexpected { expected, repair })
    }

    pub(super) fn end_of_text(&self, expected: &'static str) -> Stop {
        let end = self.bytes.len();
        let kind = StopKind::EndOfText { expected };
        Stop { pointer: String::new(), span: Span::new(end, end), kind }
    }

    fn stop(&self, kind: StopKind) -> Stop {
        let span = Span::new(self.position, self.next_character(self.position));
        Stop { pointer: String::new(), span, kind }
    }

    fn next_character(&self, start: usize) -> usize {
        let mut end = (start + 1).min(self.bytes.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        end
    }
}
