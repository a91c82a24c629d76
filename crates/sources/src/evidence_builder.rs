//! Builds the result of every source: items as the contract `evidence_item` defines them.
//!
//! `data` has one entry per item, next to the items, because an item has no field for values.

use countersign_runtime::effect::{EffectError, EffectErrorKind};
use serde_json::{Map, Value, json};

/// Maximum size of one result, all items together, in bytes.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Maximum length of an item's snippet, in characters.
const MAX_SNIPPET_CHARS: usize = 2_000;

/// A result under construction.
#[derive(Debug)]
pub(crate) struct EvidenceBuilder {
    source: String,
    items: Vec<Value>,
    data: Vec<Value>,
    bytes: usize,
    truncated: bool,
    skipped: Vec<Value>,
}

impl EvidenceBuilder {
    /// Creates an empty result of a source.
    pub(crate) fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            items: Vec::new(),
            data: Vec::new(),
            bytes: 0,
            truncated: false,
            skipped: Vec::new(),
        }
    }

    /// Adds an item. Returns `false`, and adds nothing, if the result is full.
    pub(crate) fn add_item(
        &mut self,
        reference: &str,
        text: &str,
        data: Value,
        confidence: f64,
    ) -> Result<bool, EffectError> {
        let weight =
            reference.len() + text.len().min(MAX_SNIPPET_CHARS * 4) + data.to_string().len();
        if self.bytes + weight > MAX_ANSWER_BYTES {
            if self.items.is_empty() {
                let source = &self.source;
                let message = format!(
                    "source `{source}` returned an item of more than {MAX_ANSWER_BYTES} bytes"
                );
                return Err(EffectError::new_permanent(EffectErrorKind::TooLarge, message));
            }
            self.truncated = true;
            return Ok(false);
        }
        self.bytes += weight;
        self.items.push(json!({
            "source": self.source,
            "ref": reference,
            "snippet": truncate_snippet(text),
            "confidence": (confidence * 1_000.0).round() / 1_000.0,
        }));
        self.data.push(data);
        Ok(true)
    }

    /// Records that there were more matches.
    pub(crate) fn mark_truncated(&mut self) {
        self.truncated = true;
    }

    /// Records that a part of the source could not be read.
    pub(crate) fn add_skipped(&mut self, reference: &str, why: &str) {
        self.skipped.push(json!({ "ref": reference, "reason": why }));
    }

    /// Returns the complete result.
    pub(crate) fn finish(self) -> Value {
        json!({
            "items": self.items,
            "data": self.data,
            "truncated": self.truncated,
            "skipped": self.skipped,
        })
    }
}

/// Formats a row as `name: value; name: value`.
pub(crate) fn format_row(row: &Map<String, Value>) -> String {
    let cells = row.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        Value::Null => format!("{name}: none"),
        other => format!("{name}: {other}"),
    });
    cells.collect::<Vec<_>>().join("; ")
}

/// Escapes a text for a reference; letters and digits of any script and `-._~` stay.
pub(crate) fn percent_encode(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if letter.is_alphanumeric() || "-._~".contains(letter) {
            escaped.push(letter);
        } else {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                escaped.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    escaped
}

fn truncate_snippet(text: &str) -> String {
    match text.char_indices().nth(MAX_SNIPPET_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_stops_growing_and_says_so() {
        let mut evidence = EvidenceBuilder::new("db");
        let large = "x".repeat(100_000);
        assert!(evidence.add_item("a", "one", json!(large), 0.9).unwrap());
        assert!(evidence.add_item("b", "two", json!(large), 0.9).unwrap());
        assert!(!evidence.add_item("c", "three", json!(large), 0.9).unwrap());
        let answer = evidence.finish();
        assert_eq!(answer["items"].as_array().unwrap().len(), 2);
        assert_eq!(answer["truncated"], true);
        let error = EvidenceBuilder::new("db")
            .add_item("a", "x", json!("x".repeat(300_000)), 1.0)
            .unwrap_err();
        assert_eq!(error.kind, EffectErrorKind::TooLarge);
    }

    #[test]
    fn references_hold_no_marks_of_their_own() {
        assert_eq!(percent_encode("a b#c?d=e&f/가"), "a%20b%23c%3Fd%3De%26f%2F가");
        assert_eq!(truncate_snippet(&"я".repeat(2_001)).chars().count(), 2_001);
        assert!(truncate_snippet(&"я".repeat(2_001)).ends_with('…'));
    }

    #[test]
    fn a_row_reads_as_a_sentence() {
        let row = json!({"project": "Atlas", "open": 14, "owner": null});
        assert_eq!(format_row(row.as_object().unwrap()), "project: Atlas; open: 14; owner: none");
    }
}
