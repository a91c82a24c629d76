//! Tables for people: columns as wide as their widest cell, the heading in bold.

use anstream::adapter::strip_str;
use unicode_width::UnicodeWidthStr as _;

use crate::show::HEADING;

/// Rows under a heading. Cells may have colours. The last column is not padded.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let heading = header.map(|cell| format!("{HEADING}{cell}{HEADING:#}"));
    let all = || std::iter::once(&heading).chain(rows);
    let widths: Vec<usize> =
        (0..N).map(|column| all().map(|row| width(&row[column])).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in all() {
        let mut line = String::new();
        let last = row.iter().rposition(|cell| width(cell) > 0).unwrap_or(0);
        for (column, cell) in row.iter().enumerate().take(last + 1) {
            line.push_str(cell);
            if column < last {
                line.push_str(&" ".repeat(widths[column] - width(cell) + 2));
            }
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// How many columns of the terminal a text takes; colours take none.
pub(crate) fn width(text: &str) -> usize {
    strip_str(text).to_string().width()
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
        let plain = strip_str(&table(["A", "B", "C"], &rows)).to_string();
        assert_eq!(plain, "A     B  C\na     1\n状态  2  x\n");
    }
}
