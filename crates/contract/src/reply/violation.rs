//! Violations: what is wrong with a reply, in a form that a person, a program and a model can act
//! on.
//!
//! A violation is data, not an error: it is logged, shown, and put into the next prompt.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::json::TextSpan;

/// The name of the empty pointer in messages.
const ROOT_NAME: &str = "the reply";

/// One thing that is wrong with a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The JSON Pointer of the location in the value. For a missing field, the pointer that the
    /// field would have.
    pub pointer: String,
    /// The kind of violation, stable across releases.
    pub code: ViolationCode,
    /// What the contract requires at this location.
    pub expected: String,
    /// What the reply has at this location, shortened.
    pub found: String,
    /// The violation as one sentence, built from the other fields unless it is set separately.
    pub message: String,
    /// Advice on how to fix the violation; absent if there is none.
    pub hint: Option<String>,
    /// The byte span in the reply text; absent if the value was not text or the location is
    /// unknown.
    pub span: Option<TextSpan>,
}

impl Violation {
    /// Creates a violation whose message combines pointer, `expected` and `found`.
    pub fn new(
        code: ViolationCode,
        pointer: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let (pointer, expected, found) = (pointer.into(), expected.into(), found.into());
        let location = if pointer.is_empty() { ROOT_NAME } else { &pointer };
        let message = format!("{location}: expected {expected}, found {found}");
        Self { pointer, code, expected, found, message, hint: None, span: None }
    }

    /// Replaces the message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Sets the hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Puts `prefix` before the pointer, for a value that is part of a larger one, and updates the
    /// message.
    #[must_use]
    pub fn with_pointer_prefix(self, prefix: &str) -> Self {
        let pointer = format!("{prefix}{}", self.pointer);
        self.with_pointer(pointer)
    }

    /// Replaces the pointer, also in the message if the message begins with it.
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

    /// Returns the number of bytes in all text fields.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let hint = self.hint.as_ref().map_or(0, String::len);
        self.pointer.len() + self.expected.len() + self.found.len() + self.message.len() + hint
    }

    /// For the summary at the end of a shortened list, returns the total number of violations and
    /// the number of those listed.
    pub(super) fn parse_totals(&self) -> Option<(usize, usize)> {
        if self.code != ViolationCode::MoreViolations {
            return None;
        }
        let listed = self.expected.split(' ').nth(2)?.parse().ok()?;
        Some((self.found.parse().ok()?, listed))
    }

    /// Sets the byte span in the reply text.
    #[must_use]
    pub fn with_span(mut self, span: TextSpan) -> Self {
        self.span = Some(span);
        self
    }
}

/// Writes one line: the message, and the code in brackets.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

/// Formats a value for a violation: as JSON, cut at 60 characters, or as a count if an array or
/// object has more than three entries. Writes only as much of the value as is shown.
#[must_use]
pub fn format_value(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > 3 => format!("an array of {} items", items.len()),
        Value::Object(members) if members.len() > 3 => {
            format!("an object of {} fields", members.len())
        }
        other => {
            let mut beginning = TruncatingWriter::default();
            // The writer returns an error once it has enough text; that ends the formatting early.
            let _ = write!(beginning, "{other}");
            shorten_text(&beginning.text)
        }
    }
}

/// A writer that keeps as much text as [`shorten_text`] needs and refuses the rest.
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

/// The number of characters of a value that a violation shows.
const MAX_SHOWN_CHARS: usize = 60;

/// Cuts a text after [`MAX_SHOWN_CHARS`] characters and appends `…` if anything was cut.
pub(crate) fn shorten_text(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The kind of a violation. Each kind has a page under `docs/errors/`.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ViolationCode {
            $($(#[$doc])* $variant,)*
            /// A rule of the contract, with the id of the rule.
            Rule(String),
        }

        impl ViolationCode {
            /// Every code except [`ViolationCode::Rule`].
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
    /// The reply has more bytes than allowed.
    TooLarge = "too_large",
    /// The reply is not valid UTF-8.
    NotUtf8 = "not_utf8",
    /// The reply contains no JSON object.
    NoJson = "no_json",
    /// The reply is a JSON value other than an object.
    NotAnObject = "not_an_object",
    /// The reply has text where only the object is allowed.
    TextAroundJson = "text_around_json",
    /// The text is not valid JSON.
    InvalidJson = "invalid_json",
    /// The text ends inside the object.
    Truncated = "truncated",
    /// The value is nested deeper than allowed.
    TooDeep = "too_deep",
    /// A key, or all keys above a value together, are longer than allowed.
    PointerTooLong = "pointer_too_long",
    /// An object has the same key twice.
    DuplicateKey = "duplicate_key",
    /// No JSON value can hold the number exactly.
    LossyNumber = "lossy_number",
    /// A string escape is half of a surrogate pair.
    LoneSurrogate = "lone_surrogate",
    /// More than one object could be the reply.
    Ambiguous = "ambiguous",
    /// The object is part of a sentence, a quotation or a document, not a reply.
    QuotedObject = "quoted_object",
    /// The text has more objects than admission examines.
    TooManyCandidates = "too_many_candidates",
    /// A required field is missing.
    Required = "required",
    /// The value has the wrong type.
    Type = "type",
    /// The value is not one of the allowed values.
    Enum = "enum",
    /// The value is not the only allowed value.
    Const = "const",
    /// The schema does not declare the field.
    UnknownField = "unknown_field",
    /// The string is too short.
    MinLength = "min_length",
    /// The string is too long.
    MaxLength = "max_length",
    /// The string does not match the pattern.
    Pattern = "pattern",
    /// The string does not have the required format.
    Format = "format",
    /// The number is too small.
    Minimum = "minimum",
    /// The number is too large.
    Maximum = "maximum",
    /// The number is not a multiple of the required one.
    MultipleOf = "multiple_of",
    /// The array has too few items.
    MinItems = "min_items",
    /// The array has too many items.
    MaxItems = "max_items",
    /// The array has two equal items.
    UniqueItems = "unique_items",
    /// The array does not have the items that `contains` requires.
    Contains = "contains",
    /// The object has too few fields.
    MinProperties = "min_properties",
    /// The object has too many fields.
    MaxProperties = "max_properties",
    /// Several `oneOf` alternatives match where exactly one may.
    OneOf = "one_of",
    /// None of the alternatives matches.
    AnyOf = "any_of",
    /// The value matches a schema that `not` excludes.
    Not = "not",
    /// The string has the wrong content encoding or media type.
    Content = "content",
    /// The value breaks a schema keyword that has no code of its own, or it is too large to say
    /// which.
    Schema = "schema",
    /// The patch is malformed.
    InvalidPatch = "invalid_patch",
    /// The patch writes or reads a location outside its authority.
    NotAuthorized = "not_authorized",
    /// An operation of the patch cannot be applied to the document.
    PatchFailed = "patch_failed",
    /// The value of a `test` operation differs from the document.
    TestFailed = "test_failed",
    /// The list is shortened; this entry gives the total number of violations.
    MoreViolations = "more_violations",
}

impl fmt::Display for ViolationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self) {
            (Some(name), _) => f.write_str(name),
            (None, Self::Rule(id)) => write!(f, "rule:{id}"),
            (None, _) => Ok(()),
        }
    }
}

impl Serialize for ViolationCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Parses what `Serialize` writes; an unknown name becomes [`ViolationCode::Rule`].
impl<'de> Deserialize<'de> for ViolationCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = Self::ALL.iter().find(|code| code.name() == Some(text.as_str()));
        Ok(known
            .cloned()
            .unwrap_or_else(|| Self::Rule(text.strip_prefix("rule:").unwrap_or(&text).to_owned())))
    }
}
