//! Strings: escapes decoded, everything odd either mended and recorded or refused.

use super::read::{Flaw, FlawKind, Reader, Stop};
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
        let mut end = start;
        while let Some(&byte) = self.bytes.get(end) {
            if byte == quote {
                if self.level == RepairLevel::Guess {
                    break;
                }
                self.position = end + 1;
                return Ok(self.text[start..end].to_owned());
            }
            if byte == b'\\' || byte < 0x20 {
                break;
            }
            end += 1;
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
            let at = self.position;
            let Some(character) = self.text[at..].chars().next() else {
                let expected = if close == ['"'] { "`\"`" } else { "the closing quote" };
                self.mend_end(RepairKind::UnterminatedString, expected)?;
                return Ok(text);
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
                    self.mend(RepairKind::RawNewline, at, at + 1, "an escape such as `\\n`")?;
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
                text.push('\\');
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
            let pointer = String::new();
            self.flaws.push(Flaw { kind: FlawKind::LoneSurrogate, pointer, span });
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
        self.repairs.retain(|repair| repair.span.start < opening);
        let repair = Repair::new(RepairKind::MissingQuote, Span::new(cut, cut));
        self.repairs.push(repair);
        self.position = cut;
        kept
    }
}
