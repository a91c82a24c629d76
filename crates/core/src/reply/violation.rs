//! What is wrong with a reply, said so that a person, a program and a model can act on it.
//!
//! A violation is data, not an error: it is logged, shown, and put into the next prompt.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::json::TextSpan;

/// What a sentence calls the place that the empty pointer names.
const ROOT_NAME: &str = "the reply";

/// One thing wrong with a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The place in the value. A missing field is named by where it should stand.
    pub pointer: String,
    /// What kind of fault.
    pub code: Code,
    /// What should have been there.
    pub expected: String,
    /// What was there, shortened.
    pub found: String,
    /// The whole of it in one sentence.
    pub message: String,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
    /// The place in the text, where it is known.
    pub span: Option<TextSpan>,
}

impl Violation {
    /// A violation whose sentence is made of its parts.
    pub fn new(
        code: Code,
        pointer: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let (pointer, expected, found) = (pointer.into(), expected.into(), found.into());
        let place = if pointer.is_empty() { ROOT_NAME } else { &pointer };
        let message = format!("{place}: expected {expected}, found {found}");
        Self { pointer, code, expected, found, message, hint: None, span: None }
    }

    /// The same with another sentence.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same inside something larger: `prefix` is the pointer of what its pointer begins at.
    #[must_use]
    pub fn with_pointer_prefix(self, prefix: &str) -> Self {
        let pointer = format!("{prefix}{}", self.pointer);
        self.with_pointer(pointer)
    }

    /// The same at another place, which its sentence then names.
    #[must_use]
    pub fn with_pointer(mut self, pointer: impl Into<String>) -> Self {
        let pointer = pointer.into();
        let old = if self.pointer.is_empty() { ROOT_NAME } else { &self.pointer };
        if let Some(rest) = self.message.strip_prefix(old).filter(|rest| rest.starts_with(": ")) {
            let new = if pointer.is_empty() { ROOT_NAME } else { &pointer };
            self.message = format!("{new}{rest}");
        }
        self.pointer = pointer;
        self
    }

    /// How many bytes of text it carries.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let hint = self.hint.as_ref().map_or(0, String::len);
        self.pointer.len() + self.expected.len() + self.found.len() + self.message.len() + hint
    }

    /// For the last of a list that leaves some out: how many there are, and how many are listed.
    pub(super) fn parse_totals(&self) -> Option<(usize, usize)> {
        if self.code != Code::MoreViolations {
            return None;
        }
        let listed = self.expected.split(' ').nth(2)?.parse().ok()?;
        Some((self.found.parse().ok()?, listed))
    }

    /// The same with a place in the text.
    #[must_use]
    pub fn with_span(mut self, span: TextSpan) -> Self {
        self.span = Some(span);
        self
    }
}

/// One line: the sentence, and the code in brackets.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

/// A value as a violation shows it: JSON, cut at 60 characters. Only as much of the value is
/// written as is shown.
#[must_use]
pub fn format_value(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > 3 => format!("an array of {} items", items.len()),
        Value::Object(members) if members.len() > 3 => {
            format!("an object of {} fields", members.len())
        }
        other => {
            let mut beginning = TruncatingWriter::default();
            // Writing ends early where the value is long, which is what the writer is for.
            let _ = write!(beginning, "{other}");
            shorten_text(&beginning.text)
        }
    }
}

/// Takes as much text as [`shorten_text`] looks at, and refuses the rest.
#[derive(Default)]
struct TruncatingWriter {
    text: String,
}

impl fmt::Write for TruncatingWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = (4 * MAX_SHOWN_CHARS + 4).saturating_sub(self.text.len());
        if room == 0 {
            return Err(fmt::Error);
        }
        let end = text.floor_char_boundary(room.max(4));
        self.text.push_str(&text[..end]);
        Ok(())
    }
}

/// How many characters of a value a violation shows.
const MAX_SHOWN_CHARS: usize = 60;

/// The beginning of a text, where it is long.
pub(crate) fn shorten_text(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The kind of a fault. Each has a page under `docs/errors/`.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($(#[$doc])* $variant,)*
            /// A rule of the contract, by its id.
            Rule(String),
        }

        impl Code {
            /// Every code but the rules' own.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            fn name(&self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($name),)*
                    Self::Rule(_) => None,
                }
            }
        }
    };
}

codes! {
    /// More bytes than a reply may have.
    TooLarge = "too_large",
    /// Bytes that are no UTF-8.
    NotUtf8 = "not_utf8",
    /// No object anywhere.
    NoJson = "no_json",
    /// A value, but not an object.
    NotAnObject = "not_an_object",
    /// Text where only the object may stand.
    TextAroundJson = "text_around_json",
    /// Text that JSON does not know.
    InvalidJson = "invalid_json",
    /// The text ends inside the object.
    Truncated = "truncated",
    /// Nesting beyond the limit.
    TooDeep = "too_deep",
    /// A key, or all keys around a value together, beyond the limit.
    PointerTooLong = "pointer_too_long",
    /// A key its object already had.
    DuplicateKey = "duplicate_key",
    /// A number no JSON value can hold.
    LossyNumber = "lossy_number",
    /// Half of a surrogate pair.
    LoneSurrogate = "lone_surrogate",
    /// More than one object could be the reply.
    Ambiguous = "ambiguous",
    /// An object inside a sentence, a quotation or a document is no reply.
    QuotedObject = "quoted_object",
    /// More objects than will be looked at.
    TooManyCandidates = "too_many_candidates",
    /// A field that must be there is not.
    Required = "required",
    /// Another type.
    Type = "type",
    /// None of the allowed values.
    Enum = "enum",
    /// Not the one allowed value.
    Const = "const",
    /// A field nobody declared.
    UnknownField = "unknown_field",
    /// Too short a string.
    MinLength = "min_length",
    /// Too long a string.
    MaxLength = "max_length",
    /// A string of another pattern.
    Pattern = "pattern",
    /// A string of another format.
    Format = "format",
    /// Too small a number.
    Minimum = "minimum",
    /// Too large a number.
    Maximum = "maximum",
    /// Not a multiple.
    MultipleOf = "multiple_of",
    /// Too few items.
    MinItems = "min_items",
    /// Too many items.
    MaxItems = "max_items",
    /// The same item twice.
    UniqueItems = "unique_items",
    /// No item of the kind that must be there.
    Contains = "contains",
    /// Too few fields.
    MinProperties = "min_properties",
    /// Too many fields.
    MaxProperties = "max_properties",
    /// Several alternatives fit where exactly one may.
    OneOf = "one_of",
    /// None of the alternatives fits.
    AnyOf = "any_of",
    /// What the schema excludes.
    Not = "not",
    /// Content in another encoding or of another media type.
    Content = "content",
    /// A fault the schema names itself.
    Schema = "schema",
    /// A patch that is none.
    InvalidPatch = "invalid_patch",
    /// A write to a place that is not the writer's.
    NotAuthorized = "not_authorized",
    /// An operation that cannot be done to the document.
    PatchFailed = "patch_failed",
    /// A `test` that does not hold.
    TestFailed = "test_failed",
    /// More violations than are listed.
    MoreViolations = "more_violations",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self) {
            (Some(name), _) => f.write_str(name),
            (None, Self::Rule(id)) => write!(f, "rule:{id}"),
            (None, _) => Ok(()),
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads what `Serialize` writes; a name that is no code of ours is a rule's.
impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = Self::ALL.iter().find(|code| code.name() == Some(text.as_str()));
        Ok(known
            .cloned()
            .unwrap_or_else(|| Self::Rule(text.strip_prefix("rule:").unwrap_or(&text).to_owned())))
    }
}
