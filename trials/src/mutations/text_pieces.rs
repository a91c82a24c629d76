//! JSON text in pieces, each with two spellings: the actual text, and its strict JSON equivalent.
//!
//! A change of notation affects only the actual text, real damage affects both. Therefore the
//! concatenated strict spellings tell what the text means, as long as they are JSON.

use serde_json::Value;

use testkit::SeededRng;

/// The syntactic role of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Open,
    Close,
    Comma,
    Colon,
    Key,
    Text,
    Number,
    Literal,
    Space,
    /// Already changed; further corruptions skip it.
    Changed,
}

/// One token of the text.
#[derive(Debug, Clone)]
pub(crate) struct TextPiece {
    pub(crate) kind: PieceKind,
    /// The actual text of the piece.
    pub(crate) text: String,
    /// The strict JSON equivalent.
    pub(crate) strict: String,
    /// The decoded content of a key or a string.
    pub(crate) decoded: String,
}

impl TextPiece {
    /// Creates a piece with the same text in both spellings.
    pub(crate) fn new(kind: PieceKind, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, strict: text.clone(), text, decoded: String::new() }
    }

    /// Creates a piece that strict JSON does not have.
    pub(crate) fn decoration(text: impl Into<String>) -> Self {
        Self {
            kind: PieceKind::Changed,
            text: text.into(),
            strict: String::new(),
            decoded: String::new(),
        }
    }

    /// Changes the notation and keeps the meaning.
    pub(crate) fn respell(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.kind = PieceKind::Changed;
    }

    /// Replaces the text in both spellings, whatever it means then.
    pub(crate) fn damage(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.strict.clone_from(&self.text);
        self.kind = PieceKind::Changed;
    }

    fn is_content(&self) -> bool {
        !matches!(self.kind, PieceKind::Space) && !self.strict.is_empty()
    }
}

/// The layout of an undamaged text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextLayout {
    /// Spaces per nesting level; zero for a single line.
    indent: usize,
    /// Whether a space follows commas and colons.
    spaced: bool,
    /// Whether characters beyond ASCII are written as `\u` escapes.
    ascii: bool,
}

impl TextLayout {
    /// A single line without spaces.
    pub(crate) const COMPACT: Self = Self { indent: 0, spaced: false, ascii: false };

    /// Picks one of the layouts that models use.
    pub(crate) fn random(rng: &mut SeededRng) -> Self {
        Self {
            indent: *rng.pick(&[0, 0, 2, 2, 4]),
            spaced: rng.roll_percent(70),
            ascii: rng.roll_percent(8),
        }
    }
}

/// The pieces of a text, in order.
#[derive(Debug, Clone)]
pub(crate) struct TextPieces(pub(crate) Vec<TextPiece>);

impl TextPieces {
    /// Serializes a value into pieces.
    pub(crate) fn from_value(value: &Value, layout: TextLayout) -> Self {
        let mut pieces = Self(Vec::new());
        pieces.push_value(value, layout, 0);
        pieces
    }

    /// Returns the actual text.
    pub(crate) fn to_text(&self) -> String {
        self.0.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Returns the strict JSON equivalent of the text.
    pub(crate) fn to_strict_json(&self) -> String {
        self.0.iter().map(|piece| piece.strict.as_str()).collect()
    }

    /// Returns the positions of all pieces whose kind matches.
    pub(crate) fn find_positions(&self, kind: impl Fn(PieceKind) -> bool) -> Vec<usize> {
        (0..self.0.len()).filter(|&at| kind(self.0[at].kind)).collect()
    }

    /// Returns the nearest piece with content before a position.
    pub(crate) fn find_before(&self, at: usize) -> Option<usize> {
        (0..at).rev().find(|&at| self.0[at].is_content())
    }

    fn push(&mut self, kind: PieceKind, text: impl Into<String>) {
        self.0.push(TextPiece::new(kind, text));
    }

    fn push_string(&mut self, kind: PieceKind, says: &str, layout: TextLayout) {
        let text = quote_string(says, ['"', '"'], layout.ascii);
        self.0.push(TextPiece { kind, strict: text.clone(), text, decoded: says.to_owned() });
    }

    fn push_line_break(&mut self, layout: TextLayout, depth: usize) {
        if layout.indent > 0 {
            self.push(PieceKind::Space, format!("\n{}", " ".repeat(layout.indent * depth)));
        }
    }

    fn push_separator(&mut self, kind: PieceKind, text: &str, layout: TextLayout) {
        self.push(kind, text);
        if layout.spaced && (kind == PieceKind::Colon || layout.indent == 0) {
            self.push(PieceKind::Space, " ");
        }
    }

    fn push_value(&mut self, value: &Value, layout: TextLayout, depth: usize) {
        match value {
            Value::Object(members) => {
                self.push(PieceKind::Open, "{");
                for (number, (key, member)) in members.iter().enumerate() {
                    if number > 0 {
                        self.push_separator(PieceKind::Comma, ",", layout);
                    }
                    self.push_line_break(layout, depth + 1);
                    self.push_string(PieceKind::Key, key, layout);
                    self.push_separator(PieceKind::Colon, ":", layout);
                    self.push_value(member, layout, depth + 1);
                }
                if !members.is_empty() {
                    self.push_line_break(layout, depth);
                }
                self.push(PieceKind::Close, "}");
            }
            Value::Array(items) => {
                self.push(PieceKind::Open, "[");
                for (number, item) in items.iter().enumerate() {
                    if number > 0 {
                        self.push_separator(PieceKind::Comma, ",", layout);
                    }
                    self.push_line_break(layout, depth + 1);
                    self.push_value(item, layout, depth + 1);
                }
                if !items.is_empty() {
                    self.push_line_break(layout, depth);
                }
                self.push(PieceKind::Close, "]");
            }
            Value::String(text) => self.push_string(PieceKind::Text, text, layout),
            Value::Number(number) => self.push(PieceKind::Number, number.to_string()),
            other => self.push(PieceKind::Literal, other.to_string()),
        }
    }
}

/// Quotes a string and escapes it as far as those quotes require.
pub(crate) fn quote_string(says: &str, [open, close]: [char; 2], ascii: bool) -> String {
    let mut text = String::from(open);
    for character in says.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\'' | '"' if character == close => {
                text.push('\\');
                text.push(character);
            }
            other if other < ' ' || (ascii && !other.is_ascii()) => {
                let units = other.encode_utf16(&mut [0; 2]).to_vec();
                text.extend(units.into_iter().map(|unit| format!("\\u{unit:04x}")));
            }
            other => text.push(other),
        }
    }
    text.push(close);
    text
}
