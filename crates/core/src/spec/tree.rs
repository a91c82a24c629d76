//! A file as a value whose every member knows its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Diagnostic, Source, yaml};
use crate::json::{self, FlawKind, RepairLevel, Span, StopKind};
use crate::limits::MAX_PLACE_BYTES;
use crate::reply::Violation;

/// A parsed file: the value, and the place of each member by its pointer.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The file.
    pub source: Arc<Source>,
    /// What it says.
    pub value: Value,
    places: BTreeMap<String, Span>,
}

impl Tree {
    /// Parses YAML, or JSON where the name says so.
    pub fn parse(source: Source) -> Result<Self, Diagnostic> {
        let source = Arc::new(source);
        let (value, places) =
            if source.is_json() { json_tree(&source)? } else { yaml::parse(&source)? };
        Ok(Self { source, value, places })
    }

    /// The place of a member, or of the nearest thing around it that exists.
    #[must_use]
    pub fn place(&self, pointer: &str) -> Span {
        let mut pointer = pointer;
        loop {
            if let Some(span) = self.places.get(pointer) {
                return *span;
            }
            match json::parent(pointer) {
                Some(parent) => pointer = parent,
                None => return Span::default(),
            }
        }
    }

    /// The place of a member's key: right before its value, as far as the text tells.
    #[must_use]
    pub fn key_place(&self, pointer: &str) -> Span {
        let value = self.place(pointer);
        let Some(name) = json::split(pointer).last() else { return value };
        key_before(&self.source.text, value.start, &name).unwrap_or(value)
    }

    /// The place of a stretch of the text that stands at a member: a part of an expression.
    #[must_use]
    pub fn stretch(&self, pointer: &str, text: &str, stretch: &std::ops::Range<usize>) -> Span {
        let whole = self.place(pointer);
        let written = self.source.text.get(whole.range()).unwrap_or_default();
        // A quoted or folded text may be written otherwise than it reads; then all of it is shown.
        match written.find(text) {
            Some(offset) => Span::new(stretch.start, stretch.end).shifted(whole.start + offset),
            None => whole,
        }
    }

    /// A fault at a member.
    #[must_use]
    pub fn fault(&self, code: &str, pointer: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message, &self.source, self.place(pointer))
    }

    /// A violation of the file's own schema as a fault of the file.
    #[must_use]
    pub fn violated(&self, violation: &Violation) -> Diagnostic {
        let message = violation.message.replacen("the reply: ", "the file: ", 1);
        self.fault(&violation.code.to_string(), &violation.pointer, message)
            .hinting(violation.hint.clone())
    }
}

/// What an index of a list adds to a pointer, about.
pub(super) const INDEX_BYTES: usize = 4;

/// The fault of a file whose members would take too much room to be pointed at.
pub(super) fn too_long_keys(source: &Arc<Source>) -> Diagnostic {
    let message = format!(
        "the keys are too long for so many members: the pointers to all of them have more than \
         {MAX_PLACE_BYTES} bytes"
    );
    let hint = "shorten the keys around large lists and tables".to_owned();
    Diagnostic::new("too_large", message, source, Span::default()).hinting(Some(hint))
}

/// How many bytes the pointers to all members have; more than `limit` is not counted on.
fn pointer_bytes(value: &Value, around: usize, limit: usize) -> usize {
    let mut sum = around;
    let mut add = |key: usize, member: &Value| {
        let left = limit.saturating_sub(sum);
        sum = sum.saturating_add(pointer_bytes(member, around + 1 + key, left));
        sum <= limit
    };
    match value {
        Value::Array(items) => {
            let _ = items.iter().all(|item| add(INDEX_BYTES, item));
        }
        Value::Object(members) => {
            let _ = members.iter().all(|(key, member)| add(key.len(), member));
        }
        _ => {}
    }
    sum
}

/// How many bytes may stand between a key and its value: quotes, a colon, space, a tag.
const KEY_DISTANCE: usize = 256;

fn key_before(text: &str, end: usize, name: &str) -> Option<Span> {
    // A table's place is its key already.
    if text.get(end..)?.starts_with(name) && text[end + name.len()..].trim_start().starts_with(':')
    {
        return Some(Span::new(end, end + name.len()));
    }
    // A key stands right before its value; a text without it is not searched to its beginning.
    let mut first = end.checked_sub(name.len())?.saturating_sub(KEY_DISTANCE);
    while !text.is_char_boundary(first) {
        first -= 1;
    }
    let start = first + text.get(first..end)?.rfind(name)?;
    let between = text[start + name.len()..end].trim_start_matches(['"', '\'']).trim_start();
    between.starts_with(':').then(|| Span::new(start, start + name.len()))
}

fn json_tree(source: &Arc<Source>) -> Result<(Value, BTreeMap<String, Span>), Diagnostic> {
    let text = source.text.as_str();
    let reading = json::read(text, RepairLevel::None).map_err(|stop| {
        let expected = match stop.kind {
            StopKind::Unexpected { expected, .. } | StopKind::EndOfText { expected } => expected,
            StopKind::TooDeep => "less nesting",
            StopKind::PointerTooLong => "shorter keys",
        };
        let found = if stop.span.start == text.len() {
            "the end of the file".to_owned()
        } else {
            format!("`{}`", &text[stop.span.range()])
        };
        let message = format!("not JSON: expected {expected}, found {found}");
        Diagnostic::new("invalid_json", message, source, stop.span)
    })?;
    if let Some(flaw) = reading.flaws.first() {
        let (code, message) = match flaw.kind {
            FlawKind::DuplicateKey => ("duplicate_key", "this key stands here twice"),
            FlawKind::LossyNumber => ("lossy_number", "no value can hold this number"),
            FlawKind::LoneSurrogate => ("lone_surrogate", "half of a character"),
        };
        return Err(Diagnostic::new(code, message, source, flaw.span));
    }
    if pointer_bytes(&reading.value, 0, MAX_PLACE_BYTES) > MAX_PLACE_BYTES {
        return Err(too_long_keys(source));
    }
    let places = json::read_spans(text, reading.span.start, RepairLevel::None);
    Ok((reading.value, places.into_iter().collect()))
}
