//! Makes foreign text safe to display: characters that a reader cannot see, or that would move or
//! reorder the visible text, become visible escapes such as `\u{1b}`.
//!
//! Line feeds and tabs are kept. Joiners and variation selectors are kept where scripts and emoji
//! need them: one at a time, after a character that takes them. All other characters without a
//! shape of their own are escaped: C0 and C1 controls, bidirectional controls, zero-width
//! characters, tags, fillers, line and paragraph separators. An escape is plain ASCII, so escaping
//! twice changes nothing.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Replaces every hidden character with `\u{…}`. A line ending `\r\n` becomes `\n`.
#[must_use]
pub fn escape_for_display(text: &str) -> Cow<'_, str> {
    escape_hidden(text, |found, rest, out| match found {
        '\r' if rest.starts_with('\n') => {}
        found => _ = write!(out, "{}", found.escape_unicode()),
    })
}

/// Returns the text on one line: line feeds and tabs become `\n` and `\t`, and other hidden
/// characters are escaped as in [`escape_for_display`].
#[must_use]
pub fn escape_line_for_display(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\t']) {
        return escape_for_display(text);
    }
    let text = escape_for_display(text);
    Cow::Owned(text.replace('\n', "\\n").replace('\t', "\\t"))
}

/// Replaces every hidden character of a JSON text with `\uXXXX`; the parsed value stays the same.
/// Between the strings of a JSON text no such character can occur.
#[must_use]
pub fn escape_json_for_display(json: &str) -> Cow<'_, str> {
    escape_hidden(json, |found, _, out| {
        // A carriage return occurs only between strings, where it is white space.
        if found == '\r' {
            out.push(' ');
            return;
        }
        for unit in found.encode_utf16(&mut [0; 2]) {
            _ = write!(out, "\\u{unit:04x}");
        }
    })
}

/// Returns whether a character is hidden on its own, regardless of what precedes it. Line feeds and
/// tabs are not hidden.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{0}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        // Soft hyphen, grapheme joiner, Arabic letter mark, fillers, Mongolian separators.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}'
        // Zero-width characters, marks and embeddings, separators, invisible operators, isolates.
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        // Variation selectors, byte order mark, annotations, notes, tags.
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Returns whether a hidden character has a function after `before`: a joiner within a word of a
/// joining script or between emoji, a selector after an emoji or an ideograph.
fn is_allowed_after(before: Option<char>, hidden: char) -> bool {
    let Some(before) = before else { return false };
    let joining = matches!(before, '\u{600}'..='\u{61b}' | '\u{61d}'..='\u{109f}'
        | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{180a}' | '\u{1810}'..='\u{18af}');
    let emoji = matches!(before, '\u{203c}'..='\u{2bff}' | '\u{3030}' | '\u{1f000}'..='\u{1faff}')
        && !is_hidden(before);
    let ideograph = matches!(before, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    match hidden {
        '\u{200c}' => joining,
        '\u{200d}' => joining || emoji || before == '\u{fe0f}',
        '\u{fe0e}' | '\u{fe0f}' => {
            emoji || matches!(before, '0'..='9' | '#' | '*' | '\u{a9}' | '\u{ae}')
        }
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => ideograph,
        _ => false,
    }
}

fn escape_hidden(text: &str, write: impl Fn(char, &str, &mut String)) -> Cow<'_, str> {
    // Most text has no hidden characters and is returned without a copy.
    let mut out = String::new();
    let mut copied = 0;
    let mut before = None;
    for (at, character) in text.char_indices() {
        if is_hidden(character) && !is_allowed_after(before, character) {
            out.push_str(&text[copied..at]);
            copied = at + character.len_utf8();
            write(character, &text[copied..], &mut out);
        }
        before = Some(character);
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_shown() {
        for (text, shown) in [
            ("one\n\ttwo", "one\n\ttwo"),
            ("a\u{1b}[2Jb\rc\u{9b}1m", r"a\u{1b}[2Jb\u{d}c\u{9b}1m"),
            ("line\r\nnext", "line\nnext"),
            ("pay\u{202e}lla\u{2066}x\u{200f}", r"pay\u{202e}lla\u{2066}x\u{200f}"),
            ("pass\u{200b}word\u{ad}\u{feff}", r"pass\u{200b}word\u{ad}\u{feff}"),
            ("a\u{200d}b\u{fe0f}", r"a\u{200d}b\u{fe0f}"),
            ("tag\u{e0041}", r"tag\u{e0041}"),
            // Joiners and selectors that the text needs are kept.
            ("می\u{200c}خواهم क्\u{200d}ष", "می\u{200c}خواهم क्\u{200d}ष"),
            (
                "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
                "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}",
            ),
            ("葛\u{e0100}", "葛\u{e0100}"),
            // Selectors can hide a message: the first one is kept, the rest are escaped.
            ("😀\u{fe0f}\u{fe0e}\u{e0101}", "😀\u{fe0f}\\u{fe0e}\\u{e0101}"),
            ("Привет 状态 é", "Привет 状态 é"),
        ] {
            assert_eq!(escape_for_display(text), shown);
            assert_eq!(escape_for_display(shown), shown, "twice");
        }
        assert_eq!(escape_line_for_display("a\nb\tc\u{7}"), r"a\nb\tc\u{7}");
    }

    #[test]
    fn json_keeps_its_value() {
        let value =
            serde_json::json!({"k\u{202e}": "a\u{1b}\u{85}\u{200b}\u{e0041}\r\n", "n": [1]});
        let text = format!("{value:#}\r\n");
        let shown = escape_json_for_display(&text);
        assert!(!shown.chars().any(is_hidden), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
