//! Truncates text to one line.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns one line of at most `most` columns; truncated text ends with `…`.
#[must_use]
pub fn truncate_line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.width() <= most {
        return line;
    }
    let mut short = String::new();
    for character in line.chars() {
        if short.width() + character.width().unwrap_or(0) + 1 > most {
            break;
        }
        short.push(character);
    }
    format!("{}…", short.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_to_columns() {
        assert_eq!(truncate_line("one\n two", 10), "one two");
        assert_eq!(truncate_line("one two three", 8), "one two…");
        assert_eq!(truncate_line("状态机合同", 5), "状态…");
    }
}
