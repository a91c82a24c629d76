//! JSON text in pieces, each with two spellings: what stands in the text, and what strict JSON would have there.
//!
//! A change of notation touches only the first spelling, real damage touches both. So the second spelling, put
//! together, tells what the text means wherever it is still JSON.

use serde_json::Value;

use testkit::Chance;

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Open,
    Close,
    Comma,
    Colon,
    Key,
    Text,
    Number,
    Word,
    Space,
    /// Changed already; left alone from now on.
    Done,
}

/// One piece.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    /// What stands in the text.
    pub(crate) text: String,
    /// What strict JSON would have there.
    pub(crate) plain: String,
    /// What a key or a string says.
    pub(crate) says: String,
}

impl Piece {
    /// A piece that is spelled the same both ways.
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, plain: text.clone(), text, says: String::new() }
    }

    /// A piece that strict JSON does not have.
    pub(crate) fn decoration(text: impl Into<String>) -> Self {
        Self { kind: Kind::Done, text: text.into(), plain: String::new(), says: String::new() }
    }

    /// Another notation for the same.
    pub(crate) fn respell(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.kind = Kind::Done;
    }

    /// Other text, whatever it means.
    pub(crate) fn damage(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.plain.clone_from(&self.text);
        self.kind = Kind::Done;
    }

    fn is_content(&self) -> bool {
        !matches!(self.kind, Kind::Space) && !self.plain.is_empty()
    }
}

/// How an undamaged text is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Spaces per level; zero is one line.
    indent: usize,
    /// A space after commas and colons.
    spaced: bool,
    /// Everything beyond ASCII as `\u` escapes.
    ascii: bool,
}

impl Layout {
    /// Everything in one line, no spaces.
    pub(crate) const COMPACT: Self = Self { indent: 0, spaced: false, ascii: false };

    /// One of the layouts models write.
    pub(crate) fn any(rng: &mut Chance) -> Self {
        Self { indent: *rng.pick(&[0, 0, 2, 2, 4]), spaced: rng.percent(70), ascii: rng.percent(8) }
    }
}

/// The pieces of a text.
#[derive(Debug, Clone)]
pub(crate) struct Pieces(pub(crate) Vec<Piece>);

impl Pieces {
    /// Writes a value.
    pub(crate) fn of(value: &Value, layout: Layout) -> Self {
        let mut pieces = Self(Vec::new());
        pieces.write(value, layout, 0);
        pieces
    }

    /// The text.
    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// What strict JSON would have there.
    pub(crate) fn plain(&self) -> String {
        self.0.iter().map(|piece| piece.plain.as_str()).collect()
    }

    /// The places of all pieces of a kind.
    pub(crate) fn places(&self, kind: impl Fn(Kind) -> bool) -> Vec<usize> {
        (0..self.0.len()).filter(|&at| kind(self.0[at].kind)).collect()
    }

    /// The nearest piece with content before a place.
    pub(crate) fn before(&self, at: usize) -> Option<usize> {
        (0..at).rev().find(|&at| self.0[at].is_content())
    }

    fn push(&mut self, kind: Kind, text: impl Into<String>) {
        self.0.push(Piece::new(kind, text));
    }

    fn string(&mut self, kind: Kind, says: &str, layout: Layout) {
        let text = quote(says, ['"', '"'], layout.ascii);
        self.0.push(Piece { kind, plain: text.clone(), text, says: says.to_owned() });
    }

    fn line(&mut self, layout: Layout, depth: usize) {
        if layout.indent > 0 {
            self.push(Kind::Space, format!("\n{}", " ".repeat(layout.indent * depth)));
        }
    }

    fn between(&mut self, kind: Kind, text: &str, layout: Layout) {
        self.push(kind, text);
        if layout.spaced && (kind == Kind::Colon || layout.indent == 0) {
            self.push(Kind::Space, " ");
        }
    }

    fn write(&mut self, value: &Value, layout: Layout, depth: usize) {
        match value {
            Value::Object(members) => {
                self.push(Kind::Open, "{");
                for (number, (key, member)) in members.iter().enumerate() {
                    if number > 0 {
                        self.between(Kind::Comma, ",", layout);
                    }
                    self.line(layout, depth + 1);
                    self.string(Kind::Key, key, layout);
                    self.between(Kind::Colon, ":", layout);
                    self.write(member, layout, depth + 1);
                }
                if !members.is_empty() {
                    self.line(layout, depth);
                }
                self.push(Kind::Close, "}");
            }
            Value::Array(items) => {
                self.push(Kind::Open, "[");
                for (number, item) in items.iter().enumerate() {
                    if number > 0 {
                        self.between(Kind::Comma, ",", layout);
                    }
                    self.line(layout, depth + 1);
                    self.write(item, layout, depth + 1);
                }
                if !items.is_empty() {
                    self.line(layout, depth);
                }
                self.push(Kind::Close, "]");
            }
            Value::String(text) => self.string(Kind::Text, text, layout),
            Value::Number(number) => self.push(Kind::Number, number.to_string()),
            other => self.push(Kind::Word, other.to_string()),
        }
    }
}

/// A string between quotes, escaped as far as those quotes need it.
pub(crate) fn quote(says: &str, [open, close]: [char; 2], ascii: bool) -> String {
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
