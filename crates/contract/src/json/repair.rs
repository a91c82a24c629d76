//! Repairs that the JSON parser can make, each with a name and a class.
//!
//! A repair is never silent: the parser either records it or refuses the text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::TextSpan;
use crate::limits::MAX_REPAIRS;

/// Class of a repair: how far it goes beyond what the text states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairClass {
    /// The value is certain; only decoration was removed.
    Lossless,
    /// The value is certain, but it was written in a notation other than JSON.
    Syntactic,
    /// Something was missing, and the parser assumed it.
    Guess,
}

impl RepairClass {
    /// Returns the name used in contract files and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lossless => "lossless",
            Self::Syntactic => "syntactic",
            Self::Guess => "guess",
        }
    }
}

/// Repair classes that a contract allows. Each level includes the levels before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairLevel {
    /// No repairs: JSON exactly as the standard defines it.
    None,
    /// Lossless repairs; the default wherever anything but bare JSON may arrive.
    Lossless,
    /// Also repairs of other notations.
    Syntactic,
    /// Also repairs that assume missing parts.
    Guess,
}

impl RepairLevel {
    /// Every level, from the strictest to the most permissive.
    pub const ALL: [Self; 4] = [Self::None, Self::Lossless, Self::Syntactic, Self::Guess];

    /// Parses a level from its name in contract files.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// Returns the name used in contract files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lossless => "lossless",
            Self::Syntactic => "syntactic",
            Self::Guess => "guess",
        }
    }

    /// Returns whether this level allows repairs of the given class.
    #[must_use]
    pub fn allows(self, class: RepairClass) -> bool {
        match class {
            RepairClass::Lossless => self >= Self::Lossless,
            RepairClass::Syntactic => self >= Self::Syntactic,
            RepairClass::Guess => self >= Self::Guess,
        }
    }
}

/// Kind of a repair: what was wrong with the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairKind {
    /// A byte-order mark before the text.
    ByteOrderMark,
    /// A code fence around the object.
    CodeFence,
    /// A null where a provider's schema has no other means to omit a field. The driver makes this
    /// repair before admission; its span is the whole text.
    NullForAbsent,
    /// A field that the schema does not know, in a reply to a contract that reports such fields. It
    /// is left out of the value; its span is that of its value.
    ExtraField,
    /// An optional field that holds nothing, in a reply to a contract that omits such fields. It is
    /// left out of the value; its span is that of its value.
    EmptyField,
    /// Plain text instead of an object, in a reply to a contract that takes it as the value of one
    /// field; its span is that of the text.
    PlainText,
    /// A comma before a closing bracket.
    TrailingComma,
    /// A `//` or `/* */` comment.
    Comment,
    /// A string in single quotes.
    SingleQuotes,
    /// A string in typographic quotes, with no character inside that could end it earlier.
    SmartQuotes,
    /// A string in typographic quotes that contains other quotes.
    MixedQuotes,
    /// A key without quotes.
    BareKey,
    /// `True`, `False` or `None`, as Python writes them.
    PythonLiteral,
    /// A raw line break or tab inside a string.
    RawNewline,
    /// A raw line break inside a string, after a comma. Two strings that lost their quotes look the
    /// same.
    DoubtfulNewline,
    /// Unicode white space between tokens that JSON does not allow.
    UnicodeSpace,
    /// A single wrapper around the object: a member such as `result`, a list of one, a string.
    Wrapper,
    /// A string cut off by the end of the text.
    UnterminatedString,
    /// An object cut off by the end of the text.
    UnterminatedObject,
    /// An array cut off by the end of the text.
    UnterminatedArray,
    /// No comma between two members.
    MissingComma,
    /// A string with only one quote, or none.
    MissingQuote,
    /// No colon between key and value.
    MissingColon,
    /// A quote inside a string, without its backslash.
    UnescapedQuote,
    /// A backslash before a character that must not be escaped.
    InvalidEscape,
}

impl RepairKind {
    /// Every kind, ordered by class.
    pub const ALL: [Self; 25] = [
        Self::ByteOrderMark,
        Self::CodeFence,
        Self::NullForAbsent,
        Self::ExtraField,
        Self::EmptyField,
        Self::PlainText,
        Self::TrailingComma,
        Self::Comment,
        Self::RawNewline,
        Self::UnicodeSpace,
        Self::SmartQuotes,
        Self::Wrapper,
        Self::SingleQuotes,
        Self::MixedQuotes,
        Self::BareKey,
        Self::PythonLiteral,
        Self::DoubtfulNewline,
        Self::UnterminatedString,
        Self::UnterminatedObject,
        Self::UnterminatedArray,
        Self::MissingComma,
        Self::MissingQuote,
        Self::MissingColon,
        Self::UnescapedQuote,
        Self::InvalidEscape,
    ];

    /// Returns the class, which decides whether a contract allows this repair.
    #[must_use]
    pub fn class(self) -> RepairClass {
        match self {
            Self::ByteOrderMark
            | Self::CodeFence
            | Self::NullForAbsent
            | Self::ExtraField
            | Self::EmptyField
            | Self::PlainText
            | Self::TrailingComma
            | Self::Comment
            | Self::RawNewline
            | Self::UnicodeSpace
            | Self::SmartQuotes
            | Self::Wrapper => RepairClass::Lossless,
            Self::SingleQuotes
            | Self::MixedQuotes
            | Self::BareKey
            | Self::PythonLiteral
            | Self::DoubtfulNewline => RepairClass::Syntactic,
            Self::UnterminatedString
            | Self::UnterminatedObject
            | Self::UnterminatedArray
            | Self::MissingComma
            | Self::MissingQuote
            | Self::MissingColon
            | Self::UnescapedQuote
            | Self::InvalidEscape => RepairClass::Guess,
        }
    }

    /// Returns what the author of the text should write instead.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "leave out the byte-order mark",
            Self::CodeFence => "leave out the code fence",
            Self::NullForAbsent | Self::ExtraField | Self::EmptyField => "leave the field out",
            Self::PlainText => "send the text as a field of the object",
            Self::TrailingComma => "remove the comma before the closing bracket",
            Self::Comment => "leave out comments; JSON has none",
            Self::SingleQuotes => "use double quotes",
            Self::SmartQuotes | Self::MixedQuotes => "use straight double quotes",
            Self::UnicodeSpace => "use plain spaces between keys and values",
            Self::Wrapper => "send the object itself, without a wrapper",
            Self::BareKey => "put the key in double quotes",
            Self::PythonLiteral => "write true, false or null",
            Self::RawNewline | Self::DoubtfulNewline => {
                "write a line break inside a string as \\n, a tab as \\t"
            }
            Self::UnterminatedString => "close the string",
            Self::UnterminatedObject | Self::UnterminatedArray => "close every bracket",
            Self::MissingComma => "put a comma between the members",
            Self::MissingQuote => "put text in double quotes",
            Self::MissingColon => "put a colon after the key",
            Self::UnescapedQuote => "write a quote inside a string as \\\"",
            Self::InvalidEscape => "write a backslash as two backslashes",
        }
    }

    /// Returns the name used in logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "byte_order_mark",
            Self::CodeFence => "code_fence",
            Self::NullForAbsent => "null_for_absent",
            Self::ExtraField => "extra_field",
            Self::EmptyField => "empty_field",
            Self::PlainText => "plain_text",
            Self::TrailingComma => "trailing_comma",
            Self::Comment => "comment",
            Self::SingleQuotes => "single_quotes",
            Self::SmartQuotes => "smart_quotes",
            Self::MixedQuotes => "mixed_quotes",
            Self::UnicodeSpace => "unicode_space",
            Self::Wrapper => "wrapper",
            Self::BareKey => "bare_key",
            Self::PythonLiteral => "python_literal",
            Self::RawNewline => "raw_newline",
            Self::DoubtfulNewline => "doubtful_newline",
            Self::UnterminatedString => "unterminated_string",
            Self::UnterminatedObject => "unterminated_object",
            Self::UnterminatedArray => "unterminated_array",
            Self::MissingComma => "missing_comma",
            Self::MissingQuote => "missing_quote",
            Self::MissingColon => "missing_colon",
            Self::UnescapedQuote => "unescaped_quote",
            Self::InvalidEscape => "invalid_escape",
        }
    }
}

/// One repair and where the parser made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// Kind of the repair; serialized as `repair`.
    #[serde(rename = "repair")]
    pub kind: RepairKind,
    /// Class of the repair, derived from its kind.
    pub class: RepairClass,
    /// Byte range of the affected text.
    pub span: TextSpan,
    /// Number of repairs of this kind within the span: 1, unless there were too many to keep each.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: usize,
}

impl Repair {
    /// Creates a repair with a count of 1.
    #[must_use]
    pub fn new(kind: RepairKind, span: TextSpan) -> Self {
        Self { kind, class: kind.class(), span, count: 1 }
    }
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

/// Keeps the first [`MAX_REPAIRS`] repairs unchanged, and counts the others by kind.
pub(crate) fn limit_repairs(mut repairs: Vec<Repair>) -> Vec<Repair> {
    if repairs.len() <= MAX_REPAIRS {
        return repairs;
    }
    let rest = repairs.split_off(MAX_REPAIRS);
    for repair in rest {
        match repairs[MAX_REPAIRS..].iter_mut().find(|kept| kept.kind == repair.kind) {
            Some(kept) => {
                kept.span = TextSpan::new(kept.span.start, repair.span.end.max(kept.span.end));
                kept.count += 1;
            }
            None => repairs.push(repair),
        }
    }
    repairs
}

impl Serialize for RepairKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for RepairClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RepairKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == name);
        known.ok_or_else(|| serde::de::Error::custom(format!("no repair `{name}`")))
    }
}

impl<'de> Deserialize<'de> for RepairClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let all = [Self::Lossless, Self::Syntactic, Self::Guess];
        let known = all.into_iter().find(|class| class.as_str() == name);
        known.ok_or_else(|| serde::de::Error::custom(format!("no class of repairs `{name}`")))
    }
}
