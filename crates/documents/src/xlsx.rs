//! The text of a workbook: each sheet as lines of cells, with the number of the row before them.
//!
//! Rows are read as a stream, so that a cell far away costs no more than one near.

use quick_xml::events::BytesStart;

use crate::document_text::TextCollector;
use crate::office_archive::OfficeArchive;
use crate::office_xml::{XmlToken, attribute, walk_xml};
use crate::xlsx_formats::{CellStyles, format_number};
use crate::{DocumentError, DocumentFormat, DocumentPartKind, DocumentText};

/// The last column of a sheet, `XFD`.
const MAX_COLUMNS: usize = 16_384;

/// Blanks that stand for skipped cells, at most; a longer gap shows as a column name.
const MAX_GAP: usize = 32;

/// What all sheets of a workbook share.
#[derive(Default)]
struct WorkbookParts {
    strings: Vec<String>,
    styles: CellStyles,
    from_1904: bool,
}

/// Extracts the text of the workbook whose main part is at `main`.
pub(crate) fn extract_workbook(
    archive: &mut OfficeArchive<'_>,
    main: &str,
) -> Result<DocumentText, DocumentError> {
    let relations = archive.read_relationships(main)?;
    let xml = archive.read_part(main)?.unwrap_or_default();
    let (mut sheets, mut shared) = (Vec::new(), WorkbookParts::default());
    walk_xml(&xml, main, |token| {
        match token {
            XmlToken::Open("sheet", tag) => {
                let name = attribute(tag, "name").unwrap_or_default();
                let state = attribute(tag, "state").unwrap_or_default();
                sheets.push((name, state.contains("idden"), attribute(tag, "id")));
            }
            XmlToken::Open("workbookPr", tag) => {
                let is_set = attribute(tag, "date1904");
                shared.from_1904 = matches!(is_set.as_deref(), Some("1" | "true"));
            }
            _ => {}
        }
        true
    })?;
    for relation in relations.values().filter(|relation| !relation.is_external) {
        if !["sharedStrings", "styles"].contains(&relation.kind.as_str()) {
            continue;
        }
        let Some(xml) = archive.read_part(&relation.target)? else { continue };
        if relation.kind == "styles" {
            shared.styles = CellStyles::parse(&xml, &relation.target)?;
        } else {
            shared.strings = read_strings(&xml, &relation.target)?;
        }
    }
    let mut collector = TextCollector::new(DocumentFormat::Xlsx);
    for (name, is_hidden, id) in sheets {
        if collector.is_full() {
            break;
        }
        let path = id.and_then(|id| relations.get(&id)).map(|relation| relation.target.clone());
        let xml = match &path {
            Some(path) => archive.read_part(path)?,
            None => None,
        };
        let (Some(path), Some(xml)) = (path, xml) else {
            return Err(DocumentError::broken(format!("is a workbook without its sheet `{name}`")));
        };
        let text = read_sheet(&xml, &path, &shared, collector.remaining_bytes())?;
        if is_hidden {
            collector.note(format!("sheet `{name}` is hidden in the program"));
        }
        collector.push(DocumentPartKind::Sheet, &name, &text);
    }
    collector.finish()
}

fn read_strings(xml: &str, path: &str) -> Result<Vec<String>, DocumentError> {
    let (mut strings, mut current) = (Vec::new(), String::new());
    let (mut in_text, mut in_reading) = (false, false);
    walk_xml(xml, path, |token| {
        match token {
            XmlToken::Open("si", _) => current.clear(),
            XmlToken::Close("si") => strings.push(std::mem::take(&mut current)),
            XmlToken::Open("t", _) => in_text = true,
            XmlToken::Close("t") => in_text = false,
            // How Japanese names are read, which does not show in the cell.
            XmlToken::Open("rPh", _) => in_reading = true,
            XmlToken::Close("rPh") => in_reading = false,
            XmlToken::Text(text) if in_text && !in_reading => current.push_str(text),
            _ => {}
        }
        true
    })?;
    Ok(strings)
}

/// A cell that is read.
#[derive(Default)]
struct SheetCell {
    column: usize,
    kind: String,
    style: usize,
    value: String,
    formula: String,
}

/// Where the text that is read belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CellField {
    Nothing,
    Value,
    Formula,
}

fn read_sheet(
    xml: &str,
    path: &str,
    shared: &WorkbookParts,
    limit: usize,
) -> Result<String, DocumentError> {
    let mut lines = String::new();
    let (mut row, mut next_row, mut line, mut columns) = (0_usize, 1_usize, String::new(), 0_usize);
    let (mut cell, mut field, mut widest) = (SheetCell::default(), CellField::Nothing, 0_usize);
    walk_xml(xml, path, |token| {
        match token {
            XmlToken::Open("row", tag) => {
                row = attribute(tag, "r").and_then(|row| row.parse().ok()).unwrap_or(next_row);
                (line, columns) = (String::new(), 0);
            }
            XmlToken::Close("row") => {
                if !line.trim().is_empty() {
                    lines.push_str(&format!("{row}\t{}\n", line.trim_end()));
                }
                line.clear();
                next_row = row.saturating_add(1);
            }
            XmlToken::Open("c", tag) => cell = open_cell(tag, columns),
            XmlToken::Close("c") => {
                let text = shared.format_cell(&cell);
                if !text.is_empty() {
                    columns = add_cell(&mut line, columns, cell.column, &text);
                    widest = widest.max(columns);
                } else if cell.column >= columns {
                    // An empty cell shows as a gap if another follows.
                    line.push_str(if columns > 0 && cell.column == columns { "\t" } else { "" });
                    columns += usize::from(columns > 0 && cell.column == columns);
                }
            }
            XmlToken::Open("v" | "t", _) => field = CellField::Value,
            XmlToken::Open("f", _) => field = CellField::Formula,
            XmlToken::Close("v" | "t" | "f") => field = CellField::Nothing,
            XmlToken::Text(text) => match field {
                CellField::Value => cell.value.push_str(text),
                CellField::Formula => cell.formula.push_str(text),
                CellField::Nothing => {}
            },
            _ => {}
        }
        lines.len() + line.len() <= limit
    })?;
    // The limit was reached inside a row.
    if lines.len() + line.len() > limit {
        lines.push_str(&format!("{row}\t{line}\n"));
    }
    if lines.is_empty() {
        return Ok(lines);
    }
    let names: Vec<String> = (0..widest.min(MAX_GAP)).map(name_column).collect();
    Ok(format!("row\t{}\n{lines}", names.join("\t")))
}

fn open_cell(tag: &BytesStart<'_>, next: usize) -> SheetCell {
    let column = attribute(tag, "r").and_then(|name| parse_column(&name)).unwrap_or(next);
    let style = attribute(tag, "s").and_then(|style| style.parse().ok()).unwrap_or(0);
    let kind = attribute(tag, "t").unwrap_or_default();
    SheetCell { column, kind, style, ..SheetCell::default() }
}

/// Adds a cell to a line that has `columns` columns. Returns how many it has then.
fn add_cell(line: &mut String, columns: usize, column: usize, text: &str) -> usize {
    let gap = column.saturating_sub(columns);
    if columns > 0 {
        line.push('\t');
    }
    if gap > MAX_GAP {
        line.push_str(&format!("({}) ", name_column(column)));
    } else {
        line.push_str(&"\t".repeat(gap));
    }
    line.push_str(text);
    column.max(columns) + 1
}

impl WorkbookParts {
    /// Returns what a cell shows, on one line.
    fn format_cell(&self, cell: &SheetCell) -> String {
        let value = cell.value.trim();
        let text = match cell.kind.as_str() {
            "s" => value.parse().ok().and_then(|index: usize| self.strings.get(index).cloned()),
            "b" => Some(if value == "1" { "TRUE" } else { "FALSE" }.to_owned()),
            "str" | "inlineStr" | "e" | "d" => Some(cell.value.clone()),
            _ => None,
        };
        let meaning = self.styles.meaning(cell.style);
        let text = match text {
            Some(text) => text,
            // A formula that no program has computed.
            None if value.is_empty() && !cell.formula.is_empty() => format!("={}", cell.formula),
            None if value.is_empty() => String::new(),
            None => format_number(value, meaning, self.from_1904),
        };
        text.split(['\t', '\n', '\r'])
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" ")
            .trim()
            .to_owned()
    }
}

/// Parses the column of a cell such as `AB12`, from 0.
fn parse_column(name: &str) -> Option<usize> {
    let mut column = 0_usize;
    for letter in name.bytes().take_while(u8::is_ascii_alphabetic) {
        column = column * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1;
        if column > MAX_COLUMNS {
            return None;
        }
    }
    column.checked_sub(1)
}

/// Returns the name of a column from 0, such as `AB`.
fn name_column(column: usize) -> String {
    let (mut rest, mut name) = (column + 1, Vec::new());
    while rest > 0 {
        name.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    name.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_names() {
        for (column, name) in [(0, "A"), (25, "Z"), (26, "AA"), (16_383, "XFD")] {
            assert_eq!(name_column(column), name);
            assert_eq!(parse_column(&format!("{name}7")), Some(column));
        }
        assert_eq!(parse_column("XFE1"), None);
        assert_eq!(parse_column("1"), None);
    }

    #[test]
    fn cells_are_read_where_they_stand() {
        let shared = WorkbookParts {
            strings: vec!["Rent\nper month".to_owned()],
            ..WorkbookParts::default()
        };
        let xml = r#"<worksheet><sheetData>
            <row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2"/><c r="C2"><v>900.50</v></c></row>
            <row><c t="inlineStr"><is><t>x</t></is></c><c t="b"><v>1</v></c></row>
            <row r="9"><c r="B9"><f>SUM(C2:C3)</f></c><c r="XFD9"><v>1</v></c></row>
            </sheetData></worksheet>"#;
        let text = read_sheet(xml, "s", &shared, 1_000).expect("valid");
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            ["2\tRent per month\t\t900.5", "3\tx\tTRUE", "9\t\t=SUM(C2:C3)\t(XFD) 1"]
        );
    }
}
