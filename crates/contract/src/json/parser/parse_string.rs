//! String parsing: decodes escapes, and repairs or refuses malformed strings.

use super::json_parser::{BoxedParseError, JsonDataLossKind, JsonParser};
use crate::json::{Repair, RepairKind, RepairLevel, TextSpan};

/// Whether a string is a key or a value; only guesses depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonStringRole {
    Key,
    Value,
}

impl JsonParser<'_> {
    /// Parses a string in double quotes.
    pub(super) fn parse_string(
        &mut self,
        quote: u8,
        role: JsonStringRole,
    ) -> Result<String, BoxedParseError> {
        let start = self.position + 1;
        // Fast path: most strings contain no escape and no control character, and are a single
        // slice.
        let end = start + count_plain_bytes(&self.bytes[start..], quote);
        if self.level < RepairLevel::Guess && self.bytes.get(end) == Some(&quote) {
            self.position = end + 1;
            return Ok(self.text[start..end].to_owned());
        }
        self.parse_string_slow(role, &['"'])
    }

    /// Parses a string in quotes that JSON does not allow, and records the repair `kind`.
    pub(super) fn parse_quoted(
        &mut self,
        kind: RepairKind,
        close: &'static [char],
        role: JsonStringRole,
    ) -> Result<String, BoxedParseError> {
        let expected =
            if role == JsonStringRole::Key { "a key in double quotes" } else { "a value" };
        let at = self.repairs.len();
        self.record_repair(kind, self.position, self.position, expected)?;
        let start = self.position;
        let text = self.parse_string_slow(role, close)?;
        self.repairs[at].span = TextSpan::new(start, self.position);
        Ok(text)
    }

    /// Parses a string character by character, until one of the `close` quotes.
    fn parse_string_slow(
        &mut self,
        role: JsonStringRole,
        close: &'static [char],
    ) -> Result<String, BoxedParseError> {
        let opening = self.position;
        let quote_length = self.text[opening..].chars().next().map_or(1, char::len_utf8);
        self.position += quote_length;
        let mut text = String::new();
        loop {
            if close == ['"'] {
                let start = self.position;
                self.position += count_plain_bytes(&self.bytes[start..], b'"');
                text.push_str(&self.text[start..self.position]);
            }
            let at = self.position;
            let Some(character) = self.text[at..].chars().next() else {
                return self.repair_unterminated(opening + quote_length, text, role, close);
            };
            self.position += character.len_utf8();
            match character {
                '\\' => self.parse_escape(at, &mut text, close)?,
                _ if close.contains(&character) => {
                    if self.level < RepairLevel::Guess || !self.is_inner_quote(role) {
                        let plain = close == ['"'] && role == JsonStringRole::Value;
                        return Ok(if plain {
                            self.trim_swallowed_key(opening, text)
                        } else {
                            text
                        });
                    }
                    self.repairs.push(Repair::new(
                        RepairKind::UnescapedQuote,
                        TextSpan::new(at, self.position),
                    ));
                    text.push(character);
                }
                '\n' | '\r' | '\t' => {
                    let kind = self.classify_newline(character, &text);
                    self.record_repair(kind, at, at + 1, "an escape such as `\\n`")?;
                    text.push(character);
                }
                '\0'..='\x1f' => {
                    self.position = at;
                    return Err(self.unexpected_error("no raw control character in a string", None));
                }
                other => text.push(other),
            }
        }
    }

    /// Classifies a raw line break. It certainly belongs to the string, unless it separates a line
    /// that ends with a comma from a line with text: `"a,\n b"` may have been two strings.
    fn classify_newline(&self, character: char, text: &str) -> RepairKind {
        // Only the text between two line breaks is examined, so the whole text is scanned once.
        if character != '\n' {
            return RepairKind::RawNewline;
        }
        let before = text.trim_end_matches([' ', '\t', '\r']);
        let behind = self.text[self.position..].trim_start_matches([' ', '\t']);
        if before.ends_with(',') && !behind.starts_with(['\n', '\r']) {
            RepairKind::DoubtfulNewline
        } else {
            RepairKind::RawNewline
        }
    }

    /// Handles a string that the end of the text cut off. The parser does not complete a partial
    /// key and does not include a code fence in a string; brackets at the very end close the open
    /// containers.
    fn repair_unterminated(
        &mut self,
        start: usize,
        text: String,
        role: JsonStringRole,
        close: &'static [char],
    ) -> Result<String, BoxedParseError> {
        let expected = if close == ['"'] { "`\"`" } else { "the closing quote" };
        let raw = &self.text[start..];
        let fenced = raw.contains("\n```") || raw.contains("\n~~~");
        if self.level < RepairLevel::Guess || role == JsonStringRole::Key || fenced {
            return Err(self.end_of_text_error(expected));
        }
        let kept =
            raw.trim_end_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '}' | ']'));
        let closers = &raw[kept.len()..];
        if !closers.contains(['}', ']']) {
            self.record_repair_at_end(RepairKind::UnterminatedString, expected)?;
            return Ok(text);
        }
        // If the string contains an escape, its source text is longer than the decoded text.
        let Some(kept_text) = text.strip_suffix(closers) else {
            return Err(self.end_of_text_error(expected));
        };
        let end = start + kept.len();
        while self.repairs.last().is_some_and(|repair| repair.span.start >= end) {
            self.repairs.pop();
        }
        self.record_repair(RepairKind::UnterminatedString, end, end, expected)?;
        self.position = end;
        Ok(kept_text.to_owned())
    }

    fn parse_escape(
        &mut self,
        at: usize,
        text: &mut String,
        close: &[char],
    ) -> Result<(), BoxedParseError> {
        let Some(character) = self.text[self.position..].chars().next() else {
            return Err(self.end_of_text_error("an escape"));
        };
        self.position += character.len_utf8();
        let meant = match character {
            '"' | '\\' | '/' => character,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.parse_unicode_escape(at, text),
            // Inside non-JSON quotes, the quote itself may be escaped.
            other if close.contains(&other) => other,
            other => {
                let end = self.position;
                self.position = at;
                self.record_repair(RepairKind::InvalidEscape, at, end, "a valid JSON escape")?;
                self.position = end;
                // JavaScript and Python also escape `'`; any other backslash is kept.
                if other != '\'' {
                    text.push('\\');
                }
                other
            }
        };
        text.push(meant);
        Ok(())
    }

    /// Parses `\uXXXX`, and the second half of a surrogate pair if the first half requires one.
    fn parse_unicode_escape(
        &mut self,
        at: usize,
        text: &mut String,
    ) -> Result<(), BoxedParseError> {
        let first = self.parse_hex()?;
        let character = match first {
            0xD800..=0xDBFF if self.bytes[self.position..].starts_with(b"\\u") => {
                let back = self.position;
                self.position += 2;
                let second = self.parse_hex()?;
                if (0xDC00..=0xDFFF).contains(&second) {
                    char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
                } else {
                    // The second escape is not a low surrogate; parse it separately.
                    self.position = back;
                    None
                }
            }
            other => char::from_u32(other),
        };
        if character.is_none() {
            let span = TextSpan::new(at, self.position);
            self.record_data_loss(JsonDataLossKind::LoneSurrogate, None, span);
        }
        text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn parse_hex(&mut self) -> Result<u32, BoxedParseError> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(byte) = self.peek() else {
                return Err(self.end_of_text_error("four hexadecimal digits"));
            };
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(self.unexpected_error("four hexadecimal digits", None));
            };
            code = code * 16 + digit;
            self.position += 1;
        }
        Ok(code)
    }

    /// Guess: returns whether the quote is part of the string, because more text follows it instead
    /// of a token that can follow a string.
    fn is_inner_quote(&self, role: JsonStringRole) -> bool {
        let rest = self.text[self.position..].trim_start();
        match rest.chars().next() {
            None | Some(',' | ':' | '}' | ']' | '"' | '/') => false,
            // Two members without a comma between them are on separate lines.
            Some(_) if role == JsonStringRole::Value => {
                !self.text[self.position..self.bytes.len() - rest.len()].contains('\n')
            }
            Some(_) => false,
        }
    }

    /// Guess: if a colon follows the value, the value has swallowed the next key; give the key
    /// back.
    fn trim_swallowed_key(&mut self, opening: usize, text: String) -> String {
        if self.level < RepairLevel::Guess
            || !self.text[self.position..].trim_start().starts_with(':')
        {
            return text;
        }
        let raw = &self.text[opening + 1..self.position - 1];
        let Some(comma) = raw.rfind(',') else { return text };
        if !raw[comma + 1..].trim_start().starts_with('"') || raw[..comma].contains('\\') {
            return text;
        }
        let kept = raw[..comma].to_owned();
        let cut = opening + 1 + comma;
        // Repairs are in text order, so those inside this string are the last ones.
        while self.repairs.last().is_some_and(|repair| repair.span.start >= opening) {
            self.repairs.pop();
        }
        let repair = Repair::new(RepairKind::MissingQuote, TextSpan::new(cut, cut));
        self.repairs.push(repair);
        self.position = cut;
        kept
    }
}

/// Returns the number of leading bytes that are neither the quote nor a backslash nor a control
/// character. It examines eight bytes at a time: in each word, the lowest byte that matches has its
/// high bit set.
fn count_plain_bytes(bytes: &[u8], quote: u8) -> usize {
    const LOW: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let is_zero = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut length = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(LOW * 0x20) & !word & HIGH;
        let quotes = is_zero(word ^ (LOW * u64::from(quote)));
        let found = control | quotes | is_zero(word ^ (LOW * u64::from(b'\\')));
        if found != 0 {
            return length + found.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    let special = |byte: &u8| *byte == quote || *byte == b'\\' || *byte < 0x20;
    length + rest.iter().position(special).unwrap_or(rest.len())
}
