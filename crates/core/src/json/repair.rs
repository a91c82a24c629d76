//! The mends a reader may make, each with a name and a class.
//!
//! A repair is never silent: the reader either records it or refuses the text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::TextSpan;
use crate::limits::MAX_REPAIRS;

/// How far a repair goes beyond what the text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairClass {
    /// The value is certain; only decoration was dropped.
    Lossless,
    /// The value is certain in another notation than JSON.
    Syntactic,
    /// Something was missing and has been supposed.
    Guess,
}

impl RepairClass {
    /// The name in contract files and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lossless => "lossless",
            Self::Syntactic => "syntactic",
            Self::Guess => "guess",
        }
    }
}

/// Which classes a contract allows. Each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairLevel {
    /// JSON as the standard has it.
    None,
    /// The default wherever anything but bare JSON may arrive.
    Lossless,
    /// Also other notations.
    Syntactic,
    /// Also suppositions.
    Guess,
}

impl RepairLevel {
    /// Every level, mildest first.
    pub const ALL: [Self; 4] = [Self::None, Self::Lossless, Self::Syntactic, Self::Guess];

    /// Reads a level by its name in contract files.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// The name in contract files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lossless => "lossless",
            Self::Syntactic => "syntactic",
            Self::Guess => "guess",
        }
    }

    /// Whether repairs of this class may be made.
    #[must_use]
    pub fn allows(self, class: RepairClass) -> bool {
        match class {
            RepairClass::Lossless => self >= Self::Lossless,
            RepairClass::Syntactic => self >= Self::Syntactic,
            RepairClass::Guess => self >= Self::Guess,
        }
    }
}

/// What was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairKind {
    /// A byte-order mark before the text.
    ByteOrderMark,
    /// A code fence around the object.
    CodeFence,
    /// A null where a provider's schema leaves no other way to leave a field out. The driver makes it
    /// before admission; its span is the whole text.
    NullForAbsent,
    /// A comma before a closing bracket.
    TrailingComma,
    /// A `//` or `/* */` comment.
    Comment,
    /// A string in single quotes.
    SingleQuotes,
    /// A string in typographic quotes, with nothing inside that could end it elsewhere.
    SmartQuotes,
    /// A string in typographic quotes that holds other quotes.
    MixedQuotes,
    /// A key without quotes.
    BareKey,
    /// `True`, `False` or `Empty`.
    PythonLiteral,
    /// A raw line break or tab inside a string.
    RawNewline,
    /// The same behind a comma, where two strings that lost their quotes look alike.
    DoubtfulNewline,
    /// White space of Unicode's that is none of JSON's, between tokens.
    UnicodeSpace,
    /// A lone wrapper around the object: a member such as `result`, a list of one, a string.
    Wrapper,
    /// A string that the end of the text cut off.
    UnterminatedString,
    /// An object that the end of the text cut off.
    UnterminatedObject,
    /// An array that the end of the text cut off.
    UnterminatedArray,
    /// No comma between two members.
    MissingComma,
    /// A string with only one of its quotes, or none.
    MissingQuote,
    /// No colon between key and value.
    MissingColon,
    /// A quote inside a string, without its backslash.
    UnescapedQuote,
    /// A backslash before a character that takes none.
    InvalidEscape,
}

impl RepairKind {
    /// Every kind, by class.
    pub const ALL: [Self; 22] = [
        Self::ByteOrderMark,
        Self::CodeFence,
        Self::NullForAbsent,
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

    /// The class, which decides whether a contract allows it.
    #[must_use]
    pub fn class(self) -> RepairClass {
        match self {
            Self::ByteOrderMark
            | Self::CodeFence
            | Self::NullForAbsent
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

    /// What whoever wrote the text should do instead.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "leave out the byte-order mark",
            Self::CodeFence => "leave out the code fence",
            Self::NullForAbsent => "leave the field out",
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

    /// The name in logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "byte_order_mark",
            Self::CodeFence => "code_fence",
            Self::NullForAbsent => "null_for_absent",
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

/// One mend, and where it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// What was mended.
    #[serde(rename = "repair")]
    pub kind: RepairKind,
    /// How far that goes.
    pub class: RepairClass,
    /// The bytes it concerns.
    pub span: TextSpan,
    /// How many mends of this kind the span covers: 1, unless there were too many to keep each.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: usize,
}

impl Repair {
    /// Records a mend.
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

/// Keeps the first [`MAX_REPAIRS`] mends as they are, and counts the others by their kind.
pub(super) fn limit_repairs(mut repairs: Vec<Repair>) -> Vec<Repair> {
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
