//! Words: JSON's own three, Python's, and whatever else stands where a value or a key should.

use serde_json::Value;

use super::read::{Reader, Stop};
use super::string::Place;
use crate::json::{RepairKind, RepairLevel};

const WORDS: [(&str, Option<bool>, bool); 6] = [
    ("true", Some(true), false),
    ("false", Some(false), false),
    ("null", None, false),
    ("True", Some(true), true),
    ("False", Some(false), true),
    ("None", None, true),
];

impl Reader<'_> {
    /// A value that begins with none of `{ [ " - 0..9`.
    pub(super) fn word(&mut self) -> Result<Value, Stop> {
        let start = self.position;
        let word = self.identifier();
        if let Some((name, meaning, python)) = WORDS.iter().find(|(name, ..)| *name == word) {
            if *python {
                self.mend(RepairKind::PythonLiteral, start, start + name.len(), "a value")?;
            }
            self.position += name.len();
            return Ok(meaning.map_or(Value::Null, Value::Bool));
        }
        if let Some((quote, close)) = self.other_quote() {
            return self.quoted(quote, close, Place::Value).map(Value::String);
        }
        // `tru` at the end of the text may have been about to become `true`.
        let cut = start + word.len() == self.bytes.len() && !word.is_empty();
        if cut && WORDS.iter().any(|(name, ..)| name.starts_with(word)) {
            return Err(self.end_of_text("a value"));
        }
        if self.level == RepairLevel::Guess && !word.is_empty() {
            return self.bare_text().map(Value::String);
        }
        let repair = (!word.is_empty()).then_some(RepairKind::MissingQuote);
        Err(self.unexpected("a value", repair))
    }

    /// A key, in whatever quotes.
    pub(super) fn key(&mut self) -> Result<String, Stop> {
        if self.peek() == Some(b'"') {
            return self.string(b'"', Place::Key);
        }
        if let Some((quote, close)) = self.other_quote() {
            return self.quoted(quote, close, Place::Key);
        }
        let start = self.position;
        let word = self.identifier().to_owned();
        if word.is_empty() {
            return Err(self.unexpected("a key in double quotes", None));
        }
        let end = start + word.len();
        // `name": 1` lost its opening quote, `name: 1` never had any.
        if self.bytes.get(end) == Some(&b'"') {
            self.mend(RepairKind::MissingQuote, start, start, "a key in double quotes")?;
            self.position = end + 1;
        } else {
            self.mend(RepairKind::BareKey, start, end, "a key in double quotes")?;
            self.position = end;
        }
        Ok(word)
    }

    /// Letters, digits, `_`, `$` and `-` from here on; empty where none stands.
    fn identifier(&self) -> &str {
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

    /// A quote other than JSON's: the mend that takes it, and what closes it.
    fn other_quote(&self) -> Option<(RepairKind, &'static [char])> {
        match self.text[self.position..].chars().next()? {
            '\'' => Some((RepairKind::SingleQuotes, &['\''])),
            '“' | '”' | '„' => Some((RepairKind::SmartQuotes, &['”', '“'])),
            '‘' => Some((RepairKind::SmartQuotes, &['’'])),
            '«' => Some((RepairKind::SmartQuotes, &['»'])),
            '＂' => Some((RepairKind::SmartQuotes, &['＂'])),
            _ => None,
        }
    }

    /// Guess: a value without its opening quote runs to the next comma, bracket or line break.
    fn bare_text(&mut self) -> Result<String, Stop> {
        let start = self.position;
        let rest = &self.text[start..];
        let end = rest.find([',', '}', ']', '\n', '\r']).unwrap_or(rest.len());
        let text = rest[..end].trim_end();
        let text = text.strip_suffix('"').unwrap_or(text);
        let (text, end) = (text.to_owned(), start + end);
        self.mend(RepairKind::MissingQuote, start, end, "a value")?;
        self.position = end;
        Ok(text)
    }
}
