//! The text of a Word document: paragraphs with the numbers that Word shows, headings, tables,
//! footnotes and comments. Deleted text of tracked changes is left out.

use std::collections::BTreeMap;

use quick_xml::events::BytesStart;

use crate::document_text::TextCollector;
use crate::docx_numbering::ListNumbering;
use crate::office_archive::OfficeArchive;
use crate::office_xml::{XmlToken, attribute, walk_xml};
use crate::{DocumentError, DocumentFormat, DocumentPartKind, DocumentText};

/// How far styles are followed to the style that they are based on.
const MAX_STYLE_CHAIN: usize = 10;

/// What a style of paragraphs says about their text.
#[derive(Debug, Clone, Default)]
struct ParagraphStyle {
    /// Level of a heading, from 1.
    heading: Option<usize>,
    list: Option<String>,
    level: Option<usize>,
    based_on: Option<String>,
}

/// Extracts the text of the document whose main part is at `main`.
pub(crate) fn extract_document(
    archive: &mut OfficeArchive<'_>,
    main: &str,
) -> Result<DocumentText, DocumentError> {
    let relations = archive.read_relationships(main)?;
    let find = |kind: &str| {
        let found = relations.values().find(|one| one.kind == kind && !one.is_external);
        found.map(|one| one.target.clone())
    };
    let (mut styles, mut numbering) = (BTreeMap::new(), ListNumbering::default());
    if let Some(path) = find("styles")
        && let Some(xml) = archive.read_part(&path)?
    {
        styles = read_styles(&xml, &path)?;
    }
    if let Some(path) = find("numbering")
        && let Some(xml) = archive.read_part(&path)?
    {
        numbering = ListNumbering::parse(&xml, &path)?;
    }
    let mut collector = TextCollector::new(DocumentFormat::Docx);
    let mut body = String::new();
    let main_xml = archive.read_part(main)?.ok_or_else(|| {
        DocumentError::broken(format!("is a Word document without part `{main}`"))
    })?;
    let limit = collector.remaining_bytes();
    read_flow(&main_xml, main, &styles, &mut numbering, limit, &mut body)?;
    for (kind, heading) in
        [("footnotes", "Footnotes"), ("endnotes", "Endnotes"), ("comments", "Comments")]
    {
        let Some(path) = find(kind) else { continue };
        let Some(xml) = archive.read_part(&path)? else { continue };
        let mut text = String::new();
        read_flow(&xml, &path, &styles, &mut numbering, limit, &mut text)?;
        if !text.trim().is_empty() {
            body.push_str(&format!("\n## {heading}\n\n{text}"));
        }
    }
    collector.push(DocumentPartKind::Body, "", &body);
    let mut document = collector.finish()?;
    if document.parts[0].text.is_empty() {
        document.notes.push("the document has no text; images are not read".to_owned());
    }
    Ok(document)
}

fn read_styles(xml: &str, path: &str) -> Result<BTreeMap<String, ParagraphStyle>, DocumentError> {
    let mut styles: BTreeMap<String, ParagraphStyle> = BTreeMap::new();
    let mut current = None;
    walk_xml(xml, path, |token| {
        match token {
            XmlToken::Open("style", tag) => {
                current = attribute(tag, "styleId").map(|id| (id, ParagraphStyle::default()));
            }
            XmlToken::Open(name, tag) => {
                if let Some((_, style)) = &mut current {
                    read_style_property(name, tag, style);
                }
            }
            XmlToken::Close("style") => styles.extend(current.take()),
            _ => {}
        }
        true
    })?;
    Ok(styles)
}

fn read_style_property(name: &str, tag: &BytesStart<'_>, style: &mut ParagraphStyle) {
    let value = attribute(tag, "val").unwrap_or_default();
    match name {
        "name" => {
            let lower = value.to_lowercase();
            let level = lower.strip_prefix("heading ").and_then(|level| level.parse().ok());
            style.heading = if lower == "title" { Some(1) } else { level };
        }
        "basedOn" => style.based_on = Some(value),
        "numId" => style.list = Some(value),
        "ilvl" => style.level = value.parse().ok(),
        _ => {}
    }
}

/// Returns what a style says, with what it takes from the styles below it.
fn resolve_style(styles: &BTreeMap<String, ParagraphStyle>, id: &str) -> ParagraphStyle {
    let mut whole = ParagraphStyle::default();
    let mut next = Some(id);
    for _ in 0..MAX_STYLE_CHAIN {
        let Some(style) = next.and_then(|id| styles.get(id)) else { break };
        whole.heading = whole.heading.or(style.heading);
        whole.list = whole.list.or_else(|| style.list.clone());
        whole.level = whole.level.or(style.level);
        next = style.based_on.as_deref();
    }
    whole
}

/// Reads the paragraphs and tables of a part.
fn read_flow(
    xml: &str,
    path: &str,
    styles: &BTreeMap<String, ParagraphStyle>,
    numbering: &mut ListNumbering,
    limit: usize,
    out: &mut String,
) -> Result<(), DocumentError> {
    let mut flow = WordFlow {
        out,
        styles,
        numbering,
        paragraphs: Vec::new(),
        in_text: false,
        skipped: 0,
        rows: Vec::new(),
    };
    walk_xml(xml, path, |token| {
        match token {
            XmlToken::Open(name, tag) => flow.open(name, tag),
            XmlToken::Close(name) => flow.close(name),
            XmlToken::Text(text) => {
                if flow.in_text && flow.skipped == 0 {
                    flow.add(text);
                }
            }
        }
        flow.out.len() <= limit
    })
}

/// Elements whose text does not show: deleted text, and what a text box repeats for old programs.
const SKIPPED_ELEMENTS: [&str; 3] = ["del", "moveFrom", "Fallback"];

/// A paragraph that is open. A text box has paragraphs inside a paragraph.
#[derive(Debug, Default)]
struct OpenParagraph {
    text: String,
    style: Option<String>,
    list: Option<String>,
    level: Option<usize>,
}

/// The text of a part so far.
struct WordFlow<'f> {
    out: &'f mut String,
    styles: &'f BTreeMap<String, ParagraphStyle>,
    numbering: &'f mut ListNumbering,
    paragraphs: Vec<OpenParagraph>,
    in_text: bool,
    /// How many elements that do not show are open.
    skipped: usize,
    /// The open tables: the cells of the row before the open one, and the text of that.
    rows: Vec<(Vec<String>, String)>,
}

impl WordFlow<'_> {
    fn open(&mut self, name: &str, tag: &BytesStart<'_>) {
        if SKIPPED_ELEMENTS.contains(&name) {
            self.skipped += 1;
            return;
        }
        if self.skipped > 0 {
            return;
        }
        let value = || attribute(tag, "val");
        match name {
            "p" => self.paragraphs.push(OpenParagraph::default()),
            "t" => self.in_text = true,
            "tab" | "ptab" => self.add("\t"),
            "br" | "cr" => self.add("\n"),
            "noBreakHyphen" => self.add("-"),
            "footnoteReference" | "endnoteReference" | "commentReference" => {
                if let Some(id) = attribute(tag, "id") {
                    self.add(&format!("[{id}]"));
                }
            }
            // The separators before footnotes have a type; the notes themselves have none.
            "footnote" | "endnote" if attribute(tag, "type").is_none() => {
                self.out.push_str(&format!("[{}] ", attribute(tag, "id").unwrap_or_default()));
            }
            "comment" => {
                let by = attribute(tag, "author").unwrap_or_default();
                self.out
                    .push_str(&format!("[{}] {by}: ", attribute(tag, "id").unwrap_or_default()));
            }
            "tbl" => self.rows.push((Vec::new(), String::new())),
            "pStyle" => self.with_paragraph(|one| one.style = value()),
            "numId" => self.with_paragraph(|one| one.list = value()),
            "ilvl" => {
                self.with_paragraph(|one| one.level = value().and_then(|one| one.parse().ok()));
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        if SKIPPED_ELEMENTS.contains(&name) {
            self.skipped = self.skipped.saturating_sub(1);
            return;
        }
        if self.skipped > 0 {
            return;
        }
        match name {
            "t" => self.in_text = false,
            "p" => self.end_paragraph(),
            "tc" => {
                if let Some((cells, cell)) = self.rows.last_mut() {
                    cells.push(join_lines(&std::mem::take(cell)));
                }
            }
            "tr" => {
                if let Some((cells, _)) = self.rows.last_mut() {
                    let row = std::mem::take(cells).join(" | ");
                    self.write_line(self.rows.len() - 1, &row);
                }
            }
            "tbl" => {
                self.rows.pop();
                self.write_line(self.rows.len(), "");
            }
            _ => {}
        }
    }

    fn with_paragraph(&mut self, change: impl FnOnce(&mut OpenParagraph)) {
        self.paragraphs.last_mut().map(change);
    }

    fn add(&mut self, text: &str) {
        self.with_paragraph(|one| one.text.push_str(text));
    }

    fn end_paragraph(&mut self) {
        let Some(paragraph) = self.paragraphs.pop() else { return };
        let style = paragraph.style.map(|id| resolve_style(self.styles, &id)).unwrap_or_default();
        let list = paragraph.list.or(style.list);
        let level = paragraph.level.or(style.level).unwrap_or(0);
        let text = paragraph.text.trim();
        let mut line = String::new();
        if let Some(heading) = style.heading.filter(|_| !text.is_empty()) {
            line.push_str(&"#".repeat(heading.clamp(1, 6)));
            line.push(' ');
        }
        // A list with id 0 takes the numbers away.
        if let Some(list) = list.filter(|list| list != "0" && !text.is_empty()) {
            line.push_str(&self.numbering.count(&list, level));
        }
        line.push_str(text);
        if style.heading.is_some() {
            line.push('\n');
        }
        self.write_line(self.rows.len(), &line);
    }

    /// Writes a line into the document, or into the open cell of the table at a depth from 1.
    fn write_line(&mut self, depth: usize, line: &str) {
        let target = match depth.checked_sub(1) {
            None => &mut *self.out,
            Some(index) => &mut self.rows[index].1,
        };
        target.push_str(line);
        target.push('\n');
    }
}

/// Joins the lines of a cell.
pub(crate) fn join_lines(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" / ")
}
