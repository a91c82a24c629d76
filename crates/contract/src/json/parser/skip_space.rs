//! White space and comments between the tokens of a JSON text.

use super::json_parser::{BoxedParseError, JsonParser};
use crate::json::RepairKind;

impl JsonParser<'_> {
    /// Skips white space, and comments and Unicode spaces if the level allows these repairs.
    #[expect(clippy::inline_always, reason = "called four times for each member")]
    #[inline(always)]
    pub(super) fn skip_space(&mut self) -> Result<(), BoxedParseError> {
        // Most often one space follows a colon.
        if self.peek() == Some(b' ') {
            self.position += 1;
        }
        match self.peek() {
            Some(b' ' | b'\t' | b'\n' | b'\r' | b'/' | 128..) => self.skip_space_slow(),
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn skip_space_slow(&mut self) -> Result<(), BoxedParseError> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => {
                    self.position += 1;
                    // Indentation is long: count eight spaces at once.
                    while let Some(word) = self.bytes[self.position..].first_chunk() {
                        let other = u64::from_le_bytes(*word) ^ u64::from_le_bytes([b' '; 8]);
                        self.position += other.trailing_zeros() as usize / 8;
                        if other != 0 {
                            break;
                        }
                    }
                }
                Some(b'/') if self.skip_comment()? => {}
                Some(128..) if self.skip_unicode_space()? => {}
                _ => return Ok(()),
            }
        }
    }

    /// Skips a comment and records the repair. Returns `false` if no comment starts here.
    fn skip_comment(&mut self) -> Result<bool, BoxedParseError> {
        let start = self.position;
        let rest = &self.bytes[start..];
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            match self.text[start + 2..].find("*/") {
                Some(length) => length + 4,
                None => return Err(self.end_of_text_error("`*/`")),
            }
        } else {
            return Ok(false);
        };
        self.record_repair(
            RepairKind::Comment,
            start,
            start + length,
            "a value or a closing bracket",
        )?;
        self.position = start + length;
        Ok(true)
    }

    /// Skips white space that JSON does not allow and zero-width characters, and records one repair
    /// for the whole run. Returns `false` if there is none here.
    fn skip_unicode_space(&mut self) -> Result<bool, BoxedParseError> {
        if !self.level.allows(RepairKind::UnicodeSpace.class()) {
            return Ok(false);
        }
        let start = self.position;
        let rest = &self.text[start..];
        let length = rest.len() - rest.trim_start_matches(is_unicode_space).len();
        if length > 0 {
            let end = start + length;
            self.record_repair(
                RepairKind::UnicodeSpace,
                start,
                end,
                "a value or a closing bracket",
            )?;
            self.position = end;
        }
        Ok(length > 0)
    }
}

/// Returns whether a character is Unicode white space outside ASCII, or a zero-width character.
pub(super) fn is_unicode_space(character: char) -> bool {
    !character.is_ascii()
        && (character.is_whitespace()
            || matches!(character, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{180e}'))
}
