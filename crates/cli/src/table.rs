//! Tables for people: columns as wide as their widest cell, the heading in bold.

use crate::show::HEADING;

/// Rows under a heading. The last column is not padded.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let all = || std::iter::once(header.map(str::to_owned)).chain(rows.iter().cloned());
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for (index, row) in all().enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        text +=
            &if index == 0 { format!("{HEADING}{line}{HEADING:#}\n") } else { format!("{line}\n") };
    }
    text
}
