//! Splits the source into tokens on demand, so that the parser can enter a template.
//!
//! The lexer refuses unsupported parts of JavaScript (assignment, comments, bit operators …) by
//! name.

use super::ast::ExprSpan;
use super::expr_error::ExprError;
use super::expr_string::is_js_space;
use super::js_number::parse_radix_digits;
use super::token::{ExprPunct, ExprToken, ExprTokenKind, PUNCT_SPELLINGS, PunctSpelling};

/// Position in the source. It is cheap to copy, so that the parser can look ahead and return.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExprLexer<'s> {
    pub(super) source: &'s str,
    pub(super) position: usize,
}

/// Delimiter that ended a chunk of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TemplateChunkEnd {
    /// `${`: an expression follows.
    Expression,
    /// The closing backtick.
    Template,
}

impl<'s> ExprLexer<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self { source, position: 0 }
    }

    pub(super) fn next_token(&mut self) -> Result<ExprToken<'s>, ExprError> {
        let after_newline = self.skip_space();
        let start = self.position;
        let kind = match self.peek() {
            None => ExprTokenKind::End,
            Some(quote @ ('\'' | '"')) => {
                self.position += 1;
                ExprTokenKind::Str(self.lex_string(quote, start)?)
            }
            Some('`') => {
                self.position += 1;
                ExprTokenKind::Template
            }
            Some('0'..='9') => ExprTokenKind::Num(self.lex_number()?),
            Some('.') if self.rest()[1..].starts_with(|next: char| next.is_ascii_digit()) => {
                ExprTokenKind::Num(self.lex_number()?)
            }
            Some(first) if is_name_start(first) => ExprTokenKind::Name(self.lex_name()),
            Some(other) => ExprTokenKind::Punct(self.lex_punct(other)?),
        };
        Ok(ExprToken { kind, span: ExprSpan::new(start, self.position), after_newline })
    }

    fn rest(&self) -> &'s str {
        &self.source[self.position..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips white space. Returns whether it contains a line ending.
    fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        let trimmed = rest.trim_start_matches(is_js_space);
        let skipped = &rest[..rest.len() - trimmed.len()];
        self.position += skipped.len();
        skipped.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
    }

    fn lex_name(&mut self) -> &'s str {
        let rest = self.rest();
        let end = rest.find(|next| !is_name_part(next)).unwrap_or(rest.len());
        self.position += end;
        &rest[..end]
    }

    fn lex_punct(&mut self, first: char) -> Result<ExprPunct, ExprError> {
        let rest = self.rest();
        for (text, spelling) in PUNCT_SPELLINGS {
            if !rest.starts_with(text) {
                continue;
            }
            // `a?.5:1` is a conditional, not an optional chain.
            if *text == "?." && rest[2..].starts_with(|next: char| next.is_ascii_digit()) {
                continue;
            }
            let span = self.position..self.position + text.len();
            return match spelling {
                PunctSpelling::Token(punct) => {
                    self.position = span.end;
                    Ok(*punct)
                }
                PunctSpelling::Unsupported { feature: what, hint } => Err(ExprError {
                    message: format!("expressions do not support {what} (`{text}`)"),
                    span,
                    hint: hint.map(str::to_owned),
                }),
            };
        }
        let span = self.position..self.position + first.len_utf8();
        if first == '\\' {
            return Err(error_at(
                "an escape outside a string is not allowed in an expression",
                span,
            ));
        }
        let mut error = error_at(format!("unexpected character `{}`", first.escape_debug()), span);
        if first.is_alphanumeric() {
            error.hint = Some("write such a name in brackets: `state['…']`".to_owned());
        }
        Err(error)
    }

    fn lex_number(&mut self) -> Result<f64, ExprError> {
        let start = self.position;
        let rest = self.rest();
        let bits = match rest.as_bytes() {
            [b'0', b'x' | b'X', ..] => 4,
            [b'0', b'o' | b'O', ..] => 3,
            [b'0', b'b' | b'B', ..] => 1,
            _ => 0,
        };
        let end = if bits == 0 { find_decimal_end(rest) } else { 2 + find_name_end(&rest[2..]) };
        let text = &rest[..end];
        self.position += end;
        // A name must not directly follow a number: this refuses `1_000`, `1n`, `3in` and `08`.
        let touching = find_name_end(self.rest());
        let span = start..self.position + touching;
        if bits != 0 {
            return parse_radix_digits(&text[2..], bits)
                .ok_or_else(|| error_at(format!("`{text}` is not a number"), span));
        }
        if touching > 0 {
            self.position += touching;
            return Err(error_at(
                format!("`{}` is not a number", &self.source[span.clone()]),
                span,
            ));
        }
        if text.len() > 1 && text.starts_with('0') && text.as_bytes()[1].is_ascii_digit() {
            let mut error = error_at(format!("`{text}` begins with a zero"), span);
            error.hint = Some("write an octal number as `0o17`".to_owned());
            return Err(error);
        }
        text.parse().map_err(|_| error_at(format!("`{text}` is not a number"), span))
    }

    /// Reads the text of a template up to `${` or the closing backtick, from the current position.
    pub(super) fn lex_template_chunk(
        &mut self,
        start: usize,
    ) -> Result<(String, TemplateChunkEnd), ExprError> {
        let mut text = String::new();
        loop {
            if self.rest().starts_with("${") {
                self.position += 2;
                return Ok((text, TemplateChunkEnd::Expression));
            }
            match self.bump() {
                None => return Err(error_at("the template is not closed", start..self.position)),
                Some('`') => return Ok((text, TemplateChunkEnd::Template)),
                Some('\\') => self.lex_escape(&mut text)?,
                // JavaScript normalizes every line ending in a template to `\n`.
                Some('\r') => {
                    if self.peek() == Some('\n') {
                        self.position += 1;
                    }
                    text.push('\n');
                }
                Some(other) => text.push(other),
            }
        }
    }

    fn lex_string(&mut self, quote: char, start: usize) -> Result<String, ExprError> {
        let mut text = String::new();
        loop {
            match self.bump() {
                None | Some('\n' | '\r') => {
                    return Err(error_at("the string is not closed", start..self.position));
                }
                Some('\\') => self.lex_escape(&mut text)?,
                Some(other) if other == quote => return Ok(text),
                Some(other) => text.push(other),
            }
        }
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += next.len_utf8();
        Some(next)
    }

    /// Reads an escape sequence after its backslash.
    fn lex_escape(&mut self, text: &mut String) -> Result<(), ExprError> {
        let start = self.position - 1;
        let Some(next) = self.bump() else {
            return Err(error_at("the string is not closed", start..self.position));
        };
        let followed_by_digit = self.peek().is_some_and(|digit| digit.is_ascii_digit());
        match next {
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'v' => text.push('\u{b}'),
            '0' if !followed_by_digit => text.push('\0'),
            '0'..='9' => {
                return Err(error_at(
                    "octal escapes are not allowed in a string",
                    start..self.position,
                ));
            }
            'x' => {
                let unit = self.lex_hex_digits(2, start)?;
                text.push(char::from(unit as u8));
            }
            'u' => text.push(self.lex_unicode_escape(start)?),
            // A line break after a backslash joins the lines.
            '\r' => {
                if self.peek() == Some('\n') {
                    self.position += 1;
                }
            }
            '\n' | '\u{2028}' | '\u{2029}' => {}
            other => text.push(other),
        }
        Ok(())
    }

    /// Reads `\u0041`, `\u{1F600}`, or a pair of surrogates.
    fn lex_unicode_escape(&mut self, start: usize) -> Result<char, ExprError> {
        let code = if self.peek() == Some('{') {
            self.position += 1;
            let digits = self.rest();
            let end = digits.find('}').unwrap_or(0);
            let code = (!digits[..end].is_empty()
                && digits[..end].bytes().all(|digit| digit.is_ascii_hexdigit()))
            .then(|| digits[..end].trim_start_matches('0'))
            .and_then(|digits| {
                if digits.is_empty() { Some(0) } else { u32::from_str_radix(digits, 16).ok() }
            });
            self.position += end;
            let Some(code) = code.filter(|code| *code <= 0x0010_FFFF) else {
                return Err(error_at(
                    "`\\u{…}` needs a code point in hexadecimal",
                    start..self.position,
                ));
            };
            self.position += 1;
            code
        } else {
            let first = self.lex_hex_digits(4, start)?;
            if (0xD800..0xDC00).contains(&first) && self.rest().starts_with("\\u") {
                self.position += 2;
                let second = self.lex_hex_digits(4, start)?;
                if !(0xDC00..0xE000).contains(&second) {
                    return Err(lone_surrogate_error(start, self.position));
                }
                0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
            } else {
                first
            }
        };
        char::from_u32(code).ok_or_else(|| lone_surrogate_error(start, self.position))
    }

    fn lex_hex_digits(&mut self, count: usize, start: usize) -> Result<u32, ExprError> {
        let digits = self
            .rest()
            .get(..count)
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let Some(code) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            let message = format!("this escape needs {count} hexadecimal digits");
            return Err(error_at(message, start..self.position));
        };
        self.position += count;
        Ok(code)
    }
}

fn lone_surrogate_error(start: usize, end: usize) -> ExprError {
    error_at("a lone surrogate is not text", start..end)
}

fn error_at(message: impl Into<String>, span: std::ops::Range<usize>) -> ExprError {
    ExprError { message: message.into(), span, hint: None }
}

/// Returns the length of the decimal literal at the start of the text.
fn find_decimal_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits =
        |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

fn find_name_end(text: &str) -> usize {
    text.find(|next| !is_name_part(next)).unwrap_or(text.len())
}

fn is_name_start(character: char) -> bool {
    character.is_ascii_alphabetic() || matches!(character, '$' | '_') || is_letter(character)
}

fn is_name_part(character: char) -> bool {
    is_name_start(character) || character.is_ascii_digit()
}

/// Returns whether a character outside ASCII can be part of a name: whole alphabets without
/// combining marks, so that JavaScript accepts every name that this lexer accepts.
fn is_letter(character: char) -> bool {
    let in_alphabet = matches!(character,
        '\u{c0}'..='\u{24f}'        // Latin
        | '\u{386}'..='\u{3ff}'     // Greek
        | '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}' // Cyrillic
        | '\u{531}'..='\u{556}' | '\u{561}'..='\u{587}' // Armenian
        | '\u{5d0}'..='\u{5ea}'     // Hebrew
        | '\u{620}'..='\u{64a}'     // Arabic
        | '\u{10d0}'..='\u{10fa}'   // Georgian
        | '\u{1e00}'..='\u{1eff}'   // Latin, additional
        | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' // Japanese
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' // Chinese
        | '\u{ac00}'..='\u{d7a3}'); // Korean
    in_alphabet && character.is_alphabetic()
}
