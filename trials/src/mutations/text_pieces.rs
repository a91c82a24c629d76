//! JSON text in pieces, each with two spellings: what stands in the text, and what strict JSON would have there.
//!
//! A change of notation touches only the first spelling, real damage touches both. So the second spelling, put
//! together, tells what the text means wherever it is still JSON.

use serde_json::Value;

use testkit::SeededRng;

/// What a piece is.
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
    /// Changed already; left alone from now on.
    Changed,
}

/// One piece.
#[derive(Debug, Clone)]
pub(crate) struct TextPiece {
    pub(crate) kind: PieceKind,
    /// What stands in the text.
    pub(crate) text: String,
    /// What strict JSON would have there.
    pub(crate) strict: String,
    /// What a key or a string says.
    pub(crate) decoded: String,
}

impl TextPiece {
    /// A piece that is spelled the same both ways.
    pub(crate) fn new(kind: PieceKind, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, strict: text.clone(), text, decoded: String::new() }
    }

    /// A piece that strict JSON does not have.
    pub(crate) fn decoration(text: impl Into<String>) -> Self {
        Self {
            kind: PieceKind::Changed,
            text: text.into(),
            strict: String::new(),
            decoded: String::new(),
        }
    }

    /// Another notation for the same.
    pub(crate) fn respell(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.kind = PieceKind::Changed;
    }

    /// Other text, whatever it means.
    pub(crate) fn damage(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.strict.clone_from(&self.text);
        self.kind = PieceKind::Changed;
    }

    fn is_content(&self) -> bool {
        !matches!(self.kind, PieceKind::Space) && !self.strict.is_empty()
    }
}

/// How an undamaged text is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextLayout {
    /// Spaces per level; zero is one line.
    indent: usize,
    /// A space after commas and colons.
    spaced: bool,
    /// Everything beyond ASCII as `\u` escapes.
    ascii: bool,
}

impl TextLayout {
    /// Everything in one line, no spaces.
    pub(crate) const COMPACT: Self = Self { indent: 0, spaced: false, ascii: false };

    /// One of the layouts models write.
    pub(crate) fn random(rng: &mut SeededRng) -> Self {
        Self {
            indent: *rng.pick(&[0, 0, 2, 2, 4]),
            spaced: rng.roll_percent(70),
            ascii: rng.roll_percent(8),
        }
    }
}

/// The pieces of a text.
#[derive(Debug, Clone)]
pub(crate) struct TextPieces(pub(crate) Vec<TextPiece>);

impl TextPieces {
    /// Writes a value.
    pub(crate) fn from_value(value: &Value, layout: TextLayout) -> Self {
        let mut pieces = Self(Vec::new());
        pieces.push_value(value, layout, 0);
        pieces
    }

    /// The text.
    pub(crate) fn to_text(&self) -> String {
        self.0.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// What strict JSON would have there.
    pub(crate) fn to_strict_json(&self) -> String {
        self.0.iter().map(|piece| piece.strict.as_str()).collect()
    }

    /// The places of all pieces of a kind.
    pub(crate) fn find_positions(&self, kind: impl Fn(PieceKind) -> bool) -> Vec<usize> {
        (0..self.0.len()).filter(|&at| kind(self.0[at].kind)).collect()
    }

    /// The nearest piece with content before a place.
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

/// A string between quotes, escaped as far as those quotes need it.
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
