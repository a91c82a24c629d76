//! The text of a document in parts, and its encoding for the other process.

use serde_json::{Value, json};

use crate::limits::{MAX_PARTS, MAX_TEXT_BYTES};
use crate::{DocumentError, DocumentFormat};

/// What a part of a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentPartKind {
    /// The text of a document without pages.
    Body,
    /// A page of a PDF.
    Page,
    /// A slide of a presentation, with its notes.
    Slide,
    /// A sheet of a workbook.
    Sheet,
    /// A document that is attached to a mail.
    Attachment,
}

const PART_KINDS: [(DocumentPartKind, &str); 5] = [
    (DocumentPartKind::Body, "body"),
    (DocumentPartKind::Page, "page"),
    (DocumentPartKind::Slide, "slide"),
    (DocumentPartKind::Sheet, "sheet"),
    (DocumentPartKind::Attachment, "attachment"),
];

impl DocumentPartKind {
    /// The name of the kind, such as `page`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        PART_KINDS.iter().find(|(kind, _)| *kind == self).map_or("body", |(_, name)| name)
    }
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPart {
    /// What the part is.
    pub kind: DocumentPartKind,
    /// Name of a sheet or of an attached file; empty for other parts.
    pub name: String,
    /// The text, with `\n` at the end of each line.
    pub text: String,
}

/// The text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentText {
    /// Format of the document.
    pub format: DocumentFormat,
    /// Encoding of a plain text, such as `windows-1251`; absent for other formats.
    pub encoding: Option<String>,
    /// The parts, in their order; at least one.
    pub parts: Vec<DocumentPart>,
    /// What a reader must know: what was left out, and which pages have no text.
    pub notes: Vec<String>,
}

impl DocumentText {
    /// Size of all texts, in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.parts.iter().map(|part| part.text.len()).sum()
    }

    /// Encodes the text for the other process.
    pub(crate) fn to_json(&self) -> Value {
        let parts = self.parts.iter();
        let parts = parts.map(|part| json!([part.kind.as_str(), part.name, part.text]));
        json!({
            "format": self.format.as_str(),
            "encoding": self.encoding,
            "parts": parts.collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }

    /// Decodes a text from the other process; `None` if it is not one.
    pub(crate) fn from_json(mut value: Value) -> Option<Self> {
        let Value::Array(parts) = value.get_mut("parts")?.take() else { return None };
        let text = |value: &mut Value| match value.take() {
            Value::String(text) => Some(text),
            _ => None,
        };
        let parts = parts.into_iter().map(|mut part| {
            let kind = part.get(0)?.as_str()?;
            let (kind, _) = PART_KINDS.iter().find(|(_, name)| *name == kind)?;
            let (name, text) = (text(part.get_mut(1)?)?, text(part.get_mut(2)?)?);
            Some(DocumentPart { kind: *kind, name, text })
        });
        let notes = value["notes"].as_array()?.iter();
        Some(Self {
            format: DocumentFormat::parse(value["format"].as_str()?)?,
            encoding: value["encoding"].as_str().map(str::to_owned),
            parts: parts.collect::<Option<_>>()?,
            notes: notes.map(|note| note.as_str().map(str::to_owned)).collect::<Option<_>>()?,
        })
    }
}

/// Collects parts up to the limits.
#[derive(Debug)]
pub(crate) struct TextCollector {
    document: DocumentText,
    remaining_bytes: usize,
    is_full: bool,
}

impl TextCollector {
    pub(crate) fn new(format: DocumentFormat) -> Self {
        let document =
            DocumentText { format, encoding: None, parts: Vec::new(), notes: Vec::new() };
        Self { document, remaining_bytes: MAX_TEXT_BYTES, is_full: false }
    }

    /// Returns how many more bytes of text fit.
    pub(crate) fn remaining_bytes(&self) -> usize {
        self.remaining_bytes
    }

    /// Returns whether nothing more fits, so that reading can stop.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Adds a part, or as much of it as fits.
    pub(crate) fn push(&mut self, kind: DocumentPartKind, name: &str, text: &str) {
        if self.is_full {
            return;
        }
        if self.document.parts.len() == MAX_PARTS {
            self.stop(format!("only the first {MAX_PARTS} parts were read"));
            return;
        }
        let mut text = clean_text(text);
        if text.len() > self.remaining_bytes {
            text.truncate(text.floor_char_boundary(self.remaining_bytes));
            self.stop(format!(
                "the text is longer than {} MiB; the rest was left out",
                MAX_TEXT_BYTES >> 20
            ));
        }
        self.remaining_bytes -= text.len();
        self.document.parts.push(DocumentPart { kind, name: name.to_owned(), text });
    }

    /// Adds a note.
    pub(crate) fn note(&mut self, note: String) {
        self.document.notes.push(note);
    }

    /// Adds the parts of an attached document.
    pub(crate) fn push_attachment(&mut self, name: &str, attached: &DocumentText) {
        for (part, number) in attached.parts.iter().zip(1..) {
            let inner = if part.name.is_empty() && part.kind == DocumentPartKind::Body {
                name.to_owned()
            } else if part.name.is_empty() {
                format!("{name}, {} {number}", part.kind.as_str())
            } else {
                format!("{name}: {}", part.name)
            };
            self.push(DocumentPartKind::Attachment, &inner, &part.text);
        }
        for note in &attached.notes {
            self.note(format!("`{name}`: {note}"));
        }
    }

    fn stop(&mut self, note: String) {
        self.is_full = true;
        self.note(note);
    }

    /// Returns the document, or an error if it has no part.
    pub(crate) fn finish(self) -> Result<DocumentText, DocumentError> {
        if self.document.parts.is_empty() {
            let what = self.document.format.describe();
            return Err(DocumentError::broken(format!("is {what} without content")));
        }
        Ok(self.document)
    }
}

/// Normalizes the ends of lines, and removes invisible control characters and trailing blanks.
pub(crate) fn clean_text(text: &str) -> String {
    let mut clean = String::with_capacity(text.len() + 1);
    for line in text.lines() {
        let line = line.trim_end();
        clean.extend(line.chars().filter(|sign| *sign == '\t' || !sign.is_control()));
        clean.push('\n');
    }
    let end = clean.trim_end().len();
    clean.truncate(end);
    if !clean.is_empty() {
        clean.push('\n');
    }
    let start = clean.len() - clean.trim_start_matches('\n').len();
    clean.split_off(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_from_the_other_process() {
        let mut collector = TextCollector::new(DocumentFormat::Xlsx);
        collector.push(DocumentPartKind::Sheet, "Смета", "1\tа \r\n\r\n2\t\"б\"\u{0}");
        collector.note("a note".to_owned());
        let document = collector.finish().expect("it has a part");
        assert_eq!(document.parts[0].text, "1\tа\n\n2\t\"б\"\n");
        assert_eq!(DocumentText::from_json(document.to_json()), Some(document));
        assert_eq!(DocumentText::from_json(json!({ "parts": [[1, 2, 3]] })), None);
        assert_eq!(DocumentText::from_json(json!([])), None);
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_between_characters_and_says_so() {
        let mut collector = TextCollector::new(DocumentFormat::Text);
        collector.push(DocumentPartKind::Body, "", &"水".repeat(MAX_TEXT_BYTES / 3 + 2));
        assert!(collector.is_full());
        collector.push(DocumentPartKind::Body, "", "more");
        let document = collector.finish().expect("it has a part");
        assert_eq!(document.parts.len(), 1);
        assert_eq!(document.text_bytes(), MAX_TEXT_BYTES / 3 * 3);
        assert_eq!(document.notes, ["the text is longer than 4 MiB; the rest was left out"]);
    }
}
