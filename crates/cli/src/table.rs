//! Tables for people: each column is as wide as its widest cell, and the header is bold.

use countersign_contract::text::escape_line_for_display;
use unicode_width::UnicodeWidthStr as _;

use crate::render::HEADING;
use crate::style;

/// Renders rows under a header. Cells may contain styles; hidden characters are escaped, so that
/// the columns stay aligned. The last column is not padded.
pub(crate) fn render_table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let heading = header.map(|cell| format!("{HEADING}{cell}{HEADING:#}"));
    let visible: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| escape_cell(cell))).collect();
    let all = || std::iter::once(&heading).chain(&visible);
    let widths: Vec<usize> = (0..N)
        .map(|column| all().map(|row| display_width(&row[column])).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in all() {
        let mut line = String::new();
        let last = row.iter().rposition(|cell| display_width(cell) > 0).unwrap_or(0);
        for (column, cell) in row.iter().enumerate().take(last + 1) {
            line.push_str(cell);
            if column < last {
                line.push_str(&" ".repeat(widths[column] - display_width(cell) + 2));
            }
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Escapes a cell to a single line and preserves its styles.
fn escape_cell(cell: &str) -> String {
    style::map_pieces(cell, escape_line_for_display)
}

/// Returns the display width of a text in terminal columns; styles have no width.
pub(crate) fn display_width(text: &str) -> usize {
    style::strip_styles(text).width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_wide_characters_keep_the_columns_straight() {
        let rows = [
            [format!("{HEADING}a{HEADING:#}"), "1".to_owned(), String::new()],
            ["状态".to_owned(), "2".to_owned(), "x".to_owned()],
        ];
        let plain = style::strip_styles(&render_table(["A", "B", "C"], &rows));
        assert_eq!(plain, "A     B  C\na     1\n状态  2  x\n");
    }

    #[test]
    fn what_is_hidden_in_a_cell_makes_no_other_row_and_no_other_column() {
        let rows = [["a\u{1b}\n".to_owned(), "1".to_owned()], ["b".to_owned(), "2".to_owned()]];
        let plain = style::strip_styles(&render_table(["A", "B"], &rows));
        assert_eq!(plain, "A          B\na\\u{1b}\\n  1\nb          2\n");
    }
}
