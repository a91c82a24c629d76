//! Parsed author files: a JSON value in which every member has a source position.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Diagnostic, SourceFile, yaml};
use crate::json::{self, JsonDataLossKind, JsonParseErrorKind, RepairLevel, TextSpan};
use crate::limits::MAX_POINTER_INDEX_BYTES;
use crate::reply::Violation;

/// Parsed file: its value, and the span of each member by pointer.
#[derive(Debug, Clone)]
pub struct ParsedSourceFile {
    /// File that was parsed.
    pub source: Arc<SourceFile>,
    /// Content of the file as a JSON value.
    pub value: Value,
    spans: BTreeMap<String, TextSpan>,
}

impl ParsedSourceFile {
    /// Parses the file as JSON if its name ends in `.json`, otherwise as YAML.
    pub fn parse(source: SourceFile) -> Result<Self, Diagnostic> {
        let source = Arc::new(source);
        let (value, spans) = if source.is_json() {
            parse_json_file(&source)?
        } else {
            yaml::parse_yaml_file(&source)?
        };
        Ok(Self { source, value, spans })
    }

    /// Returns the span of the member at `pointer`, or of its nearest existing ancestor.
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

    /// Returns the span of the member's key, or the span of its value if no key is found directly
    /// before it.
    #[must_use]
    pub fn find_key_span(&self, pointer: &str) -> TextSpan {
        let value = self.find_span(pointer);
        let Some(name) = json::split_pointer(pointer).last() else { return value };
        find_key_before(&self.source.text, value.start, &name).unwrap_or(value)
    }

    /// Returns the span of a part of the string at `pointer`, such as a part of an expression.
    /// `stretch` is a byte range in `text`, the parsed string.
    #[must_use]
    pub fn find_excerpt_span(
        &self,
        pointer: &str,
        text: &str,
        stretch: &std::ops::Range<usize>,
    ) -> TextSpan {
        let whole = self.find_span(pointer);
        let written = self.source.text.get(whole.range()).unwrap_or_default();
        // A quoted or folded string may differ from its source text; then return the span of the
        // whole string.
        match written.find(text) {
            Some(offset) => {
                TextSpan::new(stretch.start, stretch.end).shift_by(whole.start + offset)
            }
            None => whole,
        }
    }

    /// Creates an error at the member that `pointer` names.
    #[must_use]
    pub fn diagnose(&self, code: &str, pointer: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message, &self.source, self.find_span(pointer))
    }

    /// Converts a violation of the file's own schema into a diagnostic.
    #[must_use]
    pub fn diagnose_violation(&self, violation: &Violation) -> Diagnostic {
        let message = violation.message.replacen("the reply: ", "the file: ", 1);
        self.diagnose(&violation.code.to_string(), &violation.pointer, message)
            .with_hint(violation.hint.clone())
    }
}

/// Approximate number of bytes that a list index adds to a pointer.
pub(super) const INDEX_BYTES: usize = 4;

/// Returns the diagnostic for a file whose pointers together exceed [`MAX_POINTER_INDEX_BYTES`].
pub(super) fn long_keys_diagnostic(source: &Arc<SourceFile>) -> Diagnostic {
    let message = format!(
        "the keys are too long for so many members: the pointers to all of them have more than \
         {MAX_POINTER_INDEX_BYTES} bytes"
    );
    let hint = "shorten the keys around large lists and tables".to_owned();
    Diagnostic::new("too_large", message, source, TextSpan::default()).with_hint(Some(hint))
}

/// Returns the total length of the pointers to all members, in bytes. Counting stops above `limit`.
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

/// Maximum number of bytes between a key and its value: quotes, a colon, white space, a tag.
const MAX_KEY_DISTANCE: usize = 256;

fn find_key_before(text: &str, end: usize, name: &str) -> Option<TextSpan> {
    // The span of a mapping already is its key.
    if text.get(end..)?.starts_with(name) && text[end + name.len()..].trim_start().starts_with(':')
    {
        return Some(TextSpan::new(end, end + name.len()));
    }
    // A key is directly before its value; without this bound, a text without the key would be
    // searched to its start.
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
            JsonDataLossKind::DuplicateKey => ("duplicate_key", "duplicate key"),
            JsonDataLossKind::LossyNumber => {
                ("lossy_number", "this number cannot be stored without loss")
            }
            JsonDataLossKind::LoneSurrogate => {
                ("lone_surrogate", "lone surrogate: half of a character")
            }
        };
        return Err(Diagnostic::new(code, message, source, flaw.span));
    }
    if count_pointer_bytes(&reading.value, 0, MAX_POINTER_INDEX_BYTES) > MAX_POINTER_INDEX_BYTES {
        return Err(long_keys_diagnostic(source));
    }
    let spans = json::parse_json_spans(text, reading.span.start, RepairLevel::None);
    Ok((reading.value, spans.into_iter().collect()))
}
