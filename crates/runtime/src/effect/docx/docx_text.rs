//! The text of a Word document: its XML, made from the events of a Markdown parser.

use std::fmt::Write as _;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

/// Maximum depth of list levels that Word knows.
const MAX_LIST_LEVEL: usize = 8;

/// The parts of a document that depend on its text.
#[derive(Debug, Default)]
pub(super) struct DocxText {
    /// Paragraphs and tables, the content of `w:body`.
    pub(super) content: String,
    /// First number of each ordered list. List `n` of the text has the number id `n + 2`.
    pub(super) list_starts: Vec<u64>,
}

/// Writes the content of a document.
pub(super) fn write_text<'a>(events: impl Iterator<Item = Event<'a>>) -> DocxText {
    let mut writer = TextWriter::default();
    for event in events {
        writer.write_event(event);
    }
    writer.close_paragraph();
    writer.text
}

/// An open list: the id of its numbering, 1 for bullets.
#[derive(Debug)]
struct OpenList {
    number: usize,
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one place that the text can be in")]
struct TextWriter {
    text: DocxText,
    lists: Vec<OpenList>,
    /// Whether the next paragraph begins an item and gets its mark.
    starts_item: bool,
    heading: Option<usize>,
    quotes: usize,
    code_block: bool,
    bold: usize,
    italic: usize,
    struck: usize,
    in_cell: bool,
    in_head: bool,
    is_open: bool,
    /// Address of each open link with the length of the content where its text begins.
    links: Vec<(String, usize)>,
}

impl TextWriter {
    fn write_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code_block => self.write_code_lines(&text),
            Event::Text(text) => self.write_run(&text, false),
            Event::Code(text) => self.write_run(&text, true),
            Event::Html(html) | Event::InlineHtml(html) => {
                self.write_run(html.trim_end_matches('\n'), true);
            }
            Event::SoftBreak => self.write_run(" ", false),
            Event::HardBreak => {
                self.open_paragraph();
                self.text.content.push_str("<w:r><w:br/></w:r>");
            }
            Event::Rule => {
                self.close_paragraph();
                self.text.content.push_str(
                    "<w:p><w:pPr><w:pBdr><w:bottom w:val=\"single\" w:sz=\"6\" w:space=\"1\" w:color=\"auto\"/></w:pBdr></w:pPr></w:p>",
                );
            }
            // Options that are not enabled.
            Event::TaskListMarker(_)
            | Event::FootnoteReference(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.close_paragraph(),
            Tag::Heading { level, .. } => {
                self.close_paragraph();
                self.heading = Some(heading_depth(level));
            }
            Tag::BlockQuote(_) => {
                self.close_paragraph();
                self.quotes += 1;
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.close_paragraph();
                self.code_block = true;
            }
            Tag::List(first) => {
                self.close_paragraph();
                let number = first.map_or(1, |first| {
                    self.text.list_starts.push(first);
                    self.text.list_starts.len() + 1
                });
                self.lists.push(OpenList { number });
            }
            Tag::Item => {
                self.close_paragraph();
                self.starts_item = true;
            }
            Tag::Table(alignments) => {
                self.close_paragraph();
                self.text.content.push_str(
                    "<w:tbl><w:tblPr><w:tblStyle w:val=\"TableGrid\"/><w:tblW w:w=\"5000\" w:type=\"pct\"/></w:tblPr><w:tblGrid>",
                );
                self.text.content.push_str(&"<w:gridCol/>".repeat(alignments.len()));
                self.text.content.push_str("</w:tblGrid>");
            }
            Tag::TableHead => {
                self.in_head = true;
                self.text.content.push_str("<w:tr><w:trPr><w:tblHeader/></w:trPr>");
            }
            Tag::TableRow => self.text.content.push_str("<w:tr>"),
            Tag::TableCell => {
                self.in_cell = true;
                self.text.content.push_str("<w:tc><w:tcPr/>");
                // A cell without a paragraph is not a valid one.
                self.open_paragraph();
            }
            Tag::Strong => self.bold += 1,
            Tag::Emphasis => self.italic += 1,
            Tag::Strikethrough => self.struck += 1,
            Tag::Link { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.text.content.len()));
            }
            // The description of an image is the text inside it.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::Item => {
                self.close_paragraph();
            }
            TagEnd::Heading(_) => {
                self.close_paragraph();
                self.heading = None;
            }
            TagEnd::BlockQuote(_) => {
                self.close_paragraph();
                self.quotes -= 1;
            }
            TagEnd::CodeBlock => {
                self.close_paragraph();
                self.code_block = false;
            }
            TagEnd::List(_) => {
                self.close_paragraph();
                self.lists.pop();
                self.starts_item = false;
            }
            // Word joins two tables with nothing between them.
            TagEnd::Table => self.text.content.push_str("</w:tbl><w:p/>"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.text.content.push_str("</w:tr>");
            }
            TagEnd::TableRow => self.text.content.push_str("</w:tr>"),
            TagEnd::TableCell => {
                self.close_paragraph();
                self.in_cell = false;
                self.text.content.push_str("</w:tc>");
            }
            TagEnd::Strong => self.bold -= 1,
            TagEnd::Emphasis => self.italic -= 1,
            TagEnd::Strikethrough => self.struck -= 1,
            TagEnd::Link => {
                if let Some((address, from)) = self.links.pop()
                    && !self.text.content[from..].contains(&escape_xml(&address))
                {
                    self.write_run(&format!(" ({address})"), false);
                }
            }
            _ => {}
        }
    }

    fn write_code_lines(&mut self, text: &str) {
        for line in text.lines() {
            self.close_paragraph();
            self.write_run(line, true);
        }
        self.close_paragraph();
    }

    fn write_run(&mut self, text: &str, is_code: bool) {
        if text.is_empty() {
            return;
        }
        self.open_paragraph();
        let content = &mut self.text.content;
        content.push_str("<w:r>");
        let mut properties = String::new();
        if is_code {
            properties.push_str("<w:rStyle w:val=\"CodeText\"/>");
        }
        if self.bold > 0 || self.in_head {
            properties.push_str("<w:b/>");
        }
        if self.italic > 0 {
            properties.push_str("<w:i/>");
        }
        if self.struck > 0 {
            properties.push_str("<w:strike/>");
        }
        if !properties.is_empty() {
            let _ = write!(content, "<w:rPr>{properties}</w:rPr>");
        }
        let _ = write!(content, "<w:t xml:space=\"preserve\">{}</w:t></w:r>", escape_xml(text));
    }

    fn open_paragraph(&mut self) {
        if self.is_open {
            return;
        }
        self.is_open = true;
        self.text.content.push_str("<w:p><w:pPr>");
        let level = self.lists.len().saturating_sub(1).min(MAX_LIST_LEVEL);
        if let Some(depth) = self.heading {
            let _ = write!(self.text.content, "<w:pStyle w:val=\"Heading{depth}\"/>");
        } else if self.code_block {
            self.text.content.push_str("<w:pStyle w:val=\"CodeBlock\"/>");
        } else if self.quotes > 0 {
            self.text.content.push_str("<w:pStyle w:val=\"Quote\"/>");
        } else if !self.lists.is_empty() && !self.in_cell {
            self.text.content.push_str("<w:pStyle w:val=\"ListParagraph\"/>");
        }
        if let Some(list) = self.lists.last().filter(|_| !self.in_cell) {
            if self.starts_item {
                let number = list.number;
                let _ = write!(
                    self.text.content,
                    "<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{number}\"/></w:numPr>"
                );
            } else {
                let left = 720 * (level + 1);
                let _ = write!(self.text.content, "<w:ind w:left=\"{left}\"/>");
            }
            self.starts_item = false;
        }
        self.text.content.push_str("</w:pPr>");
    }

    fn close_paragraph(&mut self) {
        if self.is_open {
            self.text.content.push_str("</w:p>");
            self.is_open = false;
        }
    }
}

fn heading_depth(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// Escapes a text for XML, and omits the characters that XML cannot contain.
fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' => escaped.push('\t'),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {}
            other => escaped.push(other),
        }
    }
    escaped
}
