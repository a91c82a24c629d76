//! Wraps text into short lines, for formats without automatic line breaks.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Wraps text into at most `most` lines of at most `columns` columns; truncated text ends with `…`.
///
/// Lines break at spaces, and inside a word only if the word alone is too long.
pub(super) fn wrap_text(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace().flat_map(|word| split_word(word, columns)) {
        let needed = line.width() + usize::from(!line.is_empty()) + word.width();
        if needed > columns && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while last.width() + 1 > columns {
                last.pop();
            }
            last.push('…');
        }
    }
    lines
}

/// Splits a word into pieces that fit a line, preferably after a punctuation character.
fn split_word(word: &str, columns: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for character in word.chars() {
        if piece.width() + character.width().unwrap_or(0) > columns && !piece.is_empty() {
            let sign = piece.rfind(['.', '(', ',', '/', '[', '&', '|', '?', ':', '=']);
            let rest = sign.map_or(String::new(), |sign| piece.split_off(sign + 1));
            pieces.push(std::mem::replace(&mut piece, rest));
        }
        piece.push(character);
    }
    pieces.push(piece);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap_text("one two three", 7, 9), ["one two", "three"]);
        assert_eq!(wrap_text("abcdefghij k", 4, 9), ["abcd", "efgh", "ij k"]);
        assert_eq!(
            wrap_text("state.actions.includes('X')", 16, 9),
            ["state.actions.", "includes('X')"]
        );
        assert_eq!(wrap_text("状态机合同", 6, 9), ["状态机", "合同"]);
        assert_eq!(wrap_text("one two three four", 7, 2), ["one two", "three…"]);
        assert_eq!(wrap_text("", 7, 2), [] as [&str; 0]);
    }
}
