//! A file as a value whose every member knows its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Diagnostic, SourceFile, yaml};
use crate::json::{self, JsonDataLossKind, JsonParseErrorKind, RepairLevel, TextSpan};
use crate::limits::MAX_POINTER_INDEX_BYTES;
use crate::reply::Violation;

/// A parsed file: the value, and the place of each member by its pointer.
#[derive(Debug, Clone)]
pub struct ParsedSourceFile {
    /// The file.
    pub source: Arc<SourceFile>,
    /// What it says.
    pub value: Value,
    spans: BTreeMap<String, TextSpan>,
}

impl ParsedSourceFile {
    /// Parses YAML, or JSON where the name says so.
    pub fn parse(source: SourceFile) -> Result<Self, Diagnostic> {
        let source = Arc::new(source);
        let (value, places) = if source.is_json() {
            parse_json_file(&source)?
        } else {
            yaml::parse_yaml_file(&source)?
        };
        Ok(Self { source, value, spans: places })
    }

    /// The place of a member, or of the nearest thing around it that exists.
    #[must_use]
    pub fn find_span(&self, pointer: &str) -> TextSpan {
        let mut pointer = pointer;
        loop {
            if let Some(span) = self.spans.get(pointer) {
                return *span;
            }
            match json::parent_pointer(pointer) {
                Some(parent) => pointer = parent,
                None => return TextSpan::default(),
            }
        }
    }

    /// The place of a member's key: right before its value, as far as the text tells.
    #[must_use]
    pub fn find_key_span(&self, pointer: &str) -> TextSpan {
        let value = self.find_span(pointer);
        let Some(name) = json::split_pointer(pointer).last() else { return value };
        find_key_before(&self.source.text, value.start, &name).unwrap_or(value)
    }

    /// The place of a stretch of the text that stands at a member: a part of an expression.
    #[must_use]
    pub fn find_excerpt_span(
        &self,
        pointer: &str,
        text: &str,
        stretch: &std::ops::Range<usize>,
    ) -> TextSpan {
        let whole = self.find_span(pointer);
        let written = self.source.text.get(whole.range()).unwrap_or_default();
        // A quoted or folded text may be written otherwise than it reads; then all of it is shown.
        match written.find(text) {
            Some(offset) => {
                TextSpan::new(stretch.start, stretch.end).shift_by(whole.start + offset)
            }
            None => whole,
        }
    }

    /// A fault at a member.
    #[must_use]
    pub fn diagnose(&self, code: &str, pointer: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message, &self.source, self.find_span(pointer))
    }

    /// A violation of the file's own schema as a fault of the file.
    #[must_use]
    pub fn diagnose_violation(&self, violation: &Violation) -> Diagnostic {
        let message = violation.message.replacen("the reply: ", "the file: ", 1);
        self.diagnose(&violation.code.to_string(), &violation.pointer, message)
            .with_hint(violation.hint.clone())
    }
}

/// What an index of a list adds to a pointer, about.
pub(super) const INDEX_BYTES: usize = 4;

/// The fault of a file whose members would take too much room to be pointed at.
pub(super) fn long_keys_diagnostic(source: &Arc<SourceFile>) -> Diagnostic {
    let message = format!(
        "the keys are too long for so many members: the pointers to all of them have more than \
         {MAX_POINTER_INDEX_BYTES} bytes"
    );
    let hint = "shorten the keys around large lists and tables".to_owned();
    Diagnostic::new("too_large", message, source, TextSpan::default()).with_hint(Some(hint))
}

/// How many bytes the pointers to all members have; more than `limit` is not counted on.
fn count_pointer_bytes(value: &Value, around: usize, limit: usize) -> usize {
    let mut sum = around;
    let mut add = |key: usize, member: &Value| {
        let left = limit.saturating_sub(sum);
        sum = sum.saturating_add(count_pointer_bytes(member, around + 1 + key, left));
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
const MAX_KEY_DISTANCE: usize = 256;

fn find_key_before(text: &str, end: usize, name: &str) -> Option<TextSpan> {
    // A table's place is its key already.
    if text.get(end..)?.starts_with(name) && text[end + name.len()..].trim_start().starts_with(':')
    {
        return Some(TextSpan::new(end, end + name.len()));
    }
    // A key stands right before its value; a text without it is not searched to its beginning.
    let mut first = end.checked_sub(name.len())?.saturating_sub(MAX_KEY_DISTANCE);
    while !text.is_char_boundary(first) {
        first -= 1;
    }
    let start = first + text.get(first..end)?.rfind(name)?;
    let between = text[start + name.len()..end].trim_start_matches(['"', '\'']).trim_start();
    between.starts_with(':').then(|| TextSpan::new(start, start + name.len()))
}

fn parse_json_file(
    source: &Arc<SourceFile>,
) -> Result<(Value, BTreeMap<String, TextSpan>), Diagnostic> {
    let text = source.text.as_str();
    let reading = json::parse_json(text, RepairLevel::None).map_err(|stop| {
        let expected = match stop.kind {
            JsonParseErrorKind::Unexpected { expected, .. }
            | JsonParseErrorKind::EndOfText { expected } => expected,
            JsonParseErrorKind::TooDeep => "less nesting",
            JsonParseErrorKind::PointerTooLong => "shorter keys",
        };
        let found = if stop.span.start == text.len() {
            "the end of the file".to_owned()
        } else {
            format!("`{}`", &text[stop.span.range()])
        };
        let message = format!("not JSON: expected {expected}, found {found}");
        Diagnostic::new("invalid_json", message, source, stop.span)
    })?;
    if let Some(flaw) = reading.data_losses.first() {
        let (code, message) = match flaw.kind {
            JsonDataLossKind::DuplicateKey => ("duplicate_key", "this key stands here twice"),
            JsonDataLossKind::LossyNumber => ("lossy_number", "no value can hold this number"),
            JsonDataLossKind::LoneSurrogate => ("lone_surrogate", "half of a character"),
        };
        return Err(Diagnostic::new(code, message, source, flaw.span));
    }
    if count_pointer_bytes(&reading.value, 0, MAX_POINTER_INDEX_BYTES) > MAX_POINTER_INDEX_BYTES {
        return Err(long_keys_diagnostic(source));
    }
    let places = json::parse_json_spans(text, reading.span.start, RepairLevel::None);
    Ok((reading.value, places.into_iter().collect()))
}
