//! Word parsing: the literals of JSON and Python, unquoted keys, and unquoted values.

use serde_json::Value;

use super::json_parser::{BoxedParseError, JsonParser};
use super::parse_string::JsonStringRole;
use super::skip_space::is_unicode_space;
use crate::json::{RepairKind, RepairLevel};

/// Words that stand for a value in other languages. They are never read as text, even at the guess
/// level.
const NON_JSON_WORDS: [&str; 8] =
    ["undefined", "NaN", "Infinity", "nil", "void", "TRUE", "FALSE", "NULL"];

const LITERAL_WORDS: [(&str, Option<bool>, bool); 6] = [
    ("true", Some(true), false),
    ("false", Some(false), false),
    ("null", None, false),
    ("True", Some(true), true),
    ("False", Some(false), true),
    ("None", None, true),
];

impl JsonParser<'_> {
    /// Parses a value that does not start with any of `{ [ " - 0..9`.
    pub(super) fn parse_word(&mut self) -> Result<Value, BoxedParseError> {
        let start = self.position;
        let word = self.peek_identifier();
        if let Some((name, meaning, python)) = LITERAL_WORDS.iter().find(|(name, ..)| *name == word)
        {
            if *python {
                self.record_repair(
                    RepairKind::PythonLiteral,
                    start,
                    start + name.len(),
                    "a value",
                )?;
            }
            self.position += name.len();
            return Ok(meaning.map_or(Value::Null, Value::Bool));
        }
        if let Some(quote) = self.peek_non_json_quote(JsonStringRole::Value) {
            return self
                .parse_quoted(quote.kind, quote.close, JsonStringRole::Value)
                .map(Value::String);
        }
        if NON_JSON_WORDS.contains(&word) {
            return Err(self.unexpected_error("a value", Some(RepairKind::MissingQuote)));
        }
        // `tru` at the end of the text may be the start of `true`.
        let cut = start + word.len() == self.bytes.len() && !word.is_empty();
        if cut && LITERAL_WORDS.iter().any(|(name, ..)| name.starts_with(word)) {
            return Err(self.end_of_text_error("a value"));
        }
        if self.level == RepairLevel::Guess && !word.is_empty() {
            return self.parse_bare_text().map(Value::String);
        }
        let repair = (!word.is_empty()).then_some(RepairKind::MissingQuote);
        Err(self.unexpected_error("a value", repair))
    }

    /// Parses a key in any quotes, or without quotes.
    pub(super) fn parse_key(&mut self) -> Result<String, BoxedParseError> {
        if self.peek() == Some(b'"') {
            return self.parse_string(b'"', JsonStringRole::Key);
        }
        if let Some(quote) = self.peek_non_json_quote(JsonStringRole::Key) {
            return self.parse_quoted(quote.kind, quote.close, JsonStringRole::Key);
        }
        let start = self.position;
        let word = self.peek_identifier().to_owned();
        if word.is_empty() {
            return Err(self.unexpected_error("a key in double quotes", None));
        }
        let end = start + word.len();
        // `name": 1` lost its opening quote; `name: 1` never had quotes.
        if self.bytes.get(end) == Some(&b'"') {
            self.record_repair(RepairKind::MissingQuote, start, start, "a key in double quotes")?;
            self.position = end + 1;
        } else {
            self.record_repair(RepairKind::BareKey, start, end, "a key in double quotes")?;
            self.position = end;
        }
        Ok(word)
    }

    /// Returns the letters, digits, `_`, `$` and `-` from the current position; empty if there are
    /// none.
    fn peek_identifier(&self) -> &str {
        let rest = &self.text[self.position..];
        let begins = |c: char| c.is_alphabetic() || c == '_' || c == '$';
        if !rest.starts_with(begins) {
            return "";
        }
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-')))
            .unwrap_or(rest.len());
        &rest[..end]
    }

    /// Returns the repair and the closing quotes for an opening quote that JSON does not allow.
    fn peek_non_json_quote(&self, role: JsonStringRole) -> Option<NonJsonQuote> {
        let opening = self.text[self.position..].chars().next()?;
        let (close, single): (&'static [char], bool) = match opening {
            '\'' => {
                return Some(NonJsonQuote { kind: RepairKind::SingleQuotes, close: &['\''] });
            }
            '“' | '”' | '„' => (&['”', '“'], false),
            '‘' => (&['’'], true),
            '«' => (&['»'], false),
            '＂' => (&['＂'], false),
            _ => return None,
        };
        let inside = &self.text[self.position + opening.len_utf8()..];
        let certain = has_certain_end(inside, close, single, role);
        let kind = if certain { RepairKind::SmartQuotes } else { RepairKind::MixedQuotes };
        Some(NonJsonQuote { kind, close })
    }

    /// Guess: parses a value without its opening quote, up to the next comma, bracket or line
    /// break.
    fn parse_bare_text(&mut self) -> Result<String, BoxedParseError> {
        let start = self.position;
        let rest = &self.text[start..];
        let end = rest.find([',', '}', ']', '\n', '\r']).unwrap_or(rest.len());
        let text = rest[..end].trim_end();
        let text = text.strip_suffix('"').unwrap_or(text);
        let (text, end) = (text.to_owned(), start + end);
        self.record_repair(RepairKind::MissingQuote, start, end, "a value")?;
        self.position = end;
        Ok(text)
    }
}

/// Quote that JSON does not allow, with the repair that accepts it and its closing quotes.
struct NonJsonQuote {
    kind: RepairKind,
    close: &'static [char],
}

/// Returns whether a string in typographic quotes has only one possible end: the first quote of any
/// kind is a closing quote, no escape precedes it, and a token that can follow a string comes after
/// it.
fn has_certain_end(inside: &str, close: &[char], single: bool, role: JsonStringRole) -> bool {
    let ends = |c: char| {
        let quote =
            matches!(c, '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '＂' | '\\' | '\n' | '\r');
        quote || (single && matches!(c, '‘' | '’' | '\''))
    };
    let Some((at, character)) = inside.char_indices().find(|(_, c)| ends(*c)) else { return false };
    let behind = inside[at + character.len_utf8()..]
        .trim_start_matches(|c: char| c.is_ascii_whitespace() || is_unicode_space(c));
    let expected: &[char] = if role == JsonStringRole::Key { &[':'] } else { &[',', '}', ']'] };
    close.contains(&character) && behind.starts_with(expected)
}
