//! Strings: escapes decoded, everything odd either mended and recorded or refused.

use super::read::{FlawKind, Reader, Stop};
use crate::json::{Repair, RepairKind, RepairLevel, Span};

/// What a string is for; only guessing asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Key,
    Value,
}

impl Reader<'_> {
    /// A string in double quotes.
    pub(super) fn string(&mut self, quote: u8, place: Place) -> Result<String, Stop> {
        let start = self.position + 1;
        // Most strings hold no escape and no surprise: one slice.
        let end = start + plain_length(&self.bytes[start..], quote);
        if self.level < RepairLevel::Guess && self.bytes.get(end) == Some(&quote) {
            self.position = end + 1;
            return Ok(self.text[start..end].to_owned());
        }
        self.careful(place, &['"'])
    }

    /// A string in quotes that JSON does not know.
    pub(super) fn quoted(
        &mut self,
        kind: RepairKind,
        close: &'static [char],
        place: Place,
    ) -> Result<String, Stop> {
        let expected = if place == Place::Key { "a key in double quotes" } else { "a value" };
        let at = self.repairs.len();
        self.mend(kind, self.position, self.position, expected)?;
        let start = self.position;
        let text = self.careful(place, close)?;
        self.repairs[at].span = Span::new(start, self.position);
        Ok(text)
    }

    /// Character by character.
    fn careful(&mut self, place: Place, close: &'static [char]) -> Result<String, Stop> {
        let opening = self.position;
        let quote_length = self.text[opening..].chars().next().map_or(1, char::len_utf8);
        self.position += quote_length;
        let mut text = String::new();
        loop {
            if close == ['"'] {
                let start = self.position;
                self.position += plain_length(&self.bytes[start..], b'"');
                text.push_str(&self.text[start..self.position]);
            }
            let at = self.position;
            let Some(character) = self.text[at..].chars().next() else {
                return self.unterminated(opening + quote_length, text, place, close);
            };
            self.position += character.len_utf8();
            match character {
                '\\' => self.escape(at, &mut text, close)?,
                _ if close.contains(&character) => {
                    if self.level < RepairLevel::Guess || !self.belongs_inside(place) {
                        let plain = close == ['"'] && place == Place::Value;
                        return Ok(if plain {
                            self.without_swallowed(opening, text)
                        } else {
                            text
                        });
                    }
                    self.repairs.push(Repair::new(
                        RepairKind::UnescapedQuote,
                        Span::new(at, self.position),
                    ));
                    text.push(character);
                }
                '\n' | '\r' | '\t' => {
                    let kind = self.newline_kind(character, &text);
                    self.mend(kind, at, at + 1, "an escape such as `\\n`")?;
                    text.push(character);
                }
                '\0'..='\x1f' => {
                    self.position = at;
                    return Err(self.unexpected("no raw control character in a string", None));
                }
                other => text.push(other),
            }
        }
    }

    /// A raw line break is certain, unless it parts a line that ends with a comma from one with
    /// text: `"a,\n b"` may have been two strings.
    fn newline_kind(&self, character: char, text: &str) -> RepairKind {
        // Only what stands between two line breaks is looked at, so a text is gone through once.
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

    /// The text ended inside the string. A key of which only the beginning is there is nobody's to
    /// complete, a fence is not the string's, and brackets at the very end close what is open.
    fn unterminated(
        &mut self,
        start: usize,
        text: String,
        place: Place,
        close: &'static [char],
    ) -> Result<String, Stop> {
        let expected = if close == ['"'] { "`\"`" } else { "the closing quote" };
        let raw = &self.text[start..];
        let fenced = raw.contains("\n```") || raw.contains("\n~~~");
        if self.level < RepairLevel::Guess || place == Place::Key || fenced {
            return Err(self.end_of_text(expected));
        }
        let kept =
            raw.trim_end_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '}' | ']'));
        let closers = &raw[kept.len()..];
        if !closers.contains(['}', ']']) {
            self.mend_end(RepairKind::UnterminatedString, expected)?;
            return Ok(text);
        }
        // With an escape in it, the text is longer than what it says.
        let Some(kept_text) = text.strip_suffix(closers) else {
            return Err(self.end_of_text(expected));
        };
        let end = start + kept.len();
        while self.repairs.last().is_some_and(|repair| repair.span.start >= end) {
            self.repairs.pop();
        }
        self.mend(RepairKind::UnterminatedString, end, end, expected)?;
        self.position = end;
        Ok(kept_text.to_owned())
    }

    fn escape(&mut self, at: usize, text: &mut String, close: &[char]) -> Result<(), Stop> {
        let Some(character) = self.text[self.position..].chars().next() else {
            return Err(self.end_of_text("an escape"));
        };
        self.position += character.len_utf8();
        let meant = match character {
            '"' | '\\' | '/' => character,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(at, text),
            // Inside foreign quotes, the quote itself may be escaped.
            other if close.contains(&other) => other,
            other => {
                let end = self.position;
                self.position = at;
                self.mend(RepairKind::InvalidEscape, at, end, "an escape JSON knows")?;
                self.position = end;
                // JavaScript and Python escape this one, too; of others nobody knows.
                if other != '\'' {
                    text.push('\\');
                }
                other
            }
        };
        text.push(meant);
        Ok(())
    }

    /// `\uXXXX`, and the second half where the first asks for one.
    fn unicode(&mut self, at: usize, text: &mut String) -> Result<(), Stop> {
        let first = self.hex()?;
        let character = match first {
            0xD800..=0xDBFF if self.bytes[self.position..].starts_with(b"\\u") => {
                let back = self.position;
                self.position += 2;
                let second = self.hex()?;
                if (0xDC00..=0xDFFF).contains(&second) {
                    char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
                } else {
                    // The second escape stands for itself.
                    self.position = back;
                    None
                }
            }
            other => char::from_u32(other),
        };
        if character.is_none() {
            let span = Span::new(at, self.position);
            self.flaw(FlawKind::LoneSurrogate, None, span);
        }
        text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, Stop> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(byte) = self.peek() else {
                return Err(self.end_of_text("four hexadecimal digits"));
            };
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(self.unexpected("four hexadecimal digits", None));
            };
            code = code * 16 + digit;
            self.position += 1;
        }
        Ok(code)
    }

    /// Guess: a quote that is followed by more text rather than by what ends a string.
    fn belongs_inside(&self, place: Place) -> bool {
        let rest = self.text[self.position..].trim_start();
        match rest.chars().next() {
            None | Some(',' | ':' | '}' | ']' | '"' | '/') => false,
            // Two members with no comma between them stand on lines of their own.
            Some(_) if place == Place::Value => {
                !self.text[self.position..self.bytes.len() - rest.len()].contains('\n')
            }
            Some(_) => false,
        }
    }

    /// Guess: a value that ends right before a colon has swallowed the next key; give it back.
    fn without_swallowed(&mut self, opening: usize, text: String) -> String {
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
        // They stand in the order of the text.
        while self.repairs.last().is_some_and(|repair| repair.span.start >= opening) {
            self.repairs.pop();
        }
        let repair = Repair::new(RepairKind::MissingQuote, Span::new(cut, cut));
        self.repairs.push(repair);
        self.position = cut;
        kept
    }
}

/// How many bytes from here on are neither the quote nor a backslash nor a control character. Eight
/// are looked at together: in each word, the lowest byte that is one of them has its high bit set.
fn plain_length(bytes: &[u8], quote: u8) -> usize {
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
