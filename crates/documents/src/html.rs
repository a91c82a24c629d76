//! The text of a web page: what a reader sees, without scripts and styles.
//!
//! The page is read as a stream of tags, not as a tree, so that no depth of nesting costs memory or
//! stack.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

use crate::document_text::TextCollector;
use crate::plain_text::decode_with_label;
use crate::{DocumentError, DocumentFormat, DocumentPartKind, DocumentText};

/// How many bytes of a page are searched for the name of its encoding.
const CHARSET_PROBE_BYTES: usize = 2_048;

/// Elements whose text is not shown.
const HIDDEN_ELEMENTS: [&[u8]; 6] =
    [b"script", b"style", b"template", b"noframes", b"iframe", b"object"];

/// Elements that begin on a line of their own.
const BLOCK_ELEMENTS: [&[u8]; 34] = [
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"body",
    b"center",
    b"dd",
    b"details",
    b"dialog",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"header",
    b"hr",
    b"html",
    b"legend",
    b"li",
    b"main",
    b"nav",
    b"ol",
    b"option",
    b"optgroup",
    b"section",
    b"select",
    b"summary",
    b"table",
    b"textarea",
    b"tr",
    b"ul",
];

/// Elements that stand between blank lines.
const SPACED_ELEMENTS: [&[u8]; 9] =
    [b"p", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"title", b"pre"];

/// Extracts the text of a page.
pub(crate) fn extract_page(bytes: &[u8]) -> Result<DocumentText, DocumentError> {
    let (source, encoding, _) = decode_with_label(bytes, find_charset(bytes));
    let mut collector = TextCollector::new(DocumentFormat::Html);
    let text = render_html(&source, collector.remaining_bytes());
    collector.push(DocumentPartKind::Body, "", &text);
    let mut document = collector.finish()?;
    document.encoding = Some(encoding.to_owned());
    if document.parts[0].text.is_empty() {
        document.notes.push("the page has no text; it may be written by a script".to_owned());
    }
    Ok(document)
}

/// Finds the encoding that a page names in its head.
fn find_charset(bytes: &[u8]) -> Option<&[u8]> {
    let probe = &bytes[..bytes.len().min(CHARSET_PROBE_BYTES)];
    let at = probe.windows(8).position(|part| part.eq_ignore_ascii_case(b"charset="))? + 8;
    let rest = &probe[at..];
    let rest = rest.strip_prefix(b"\"").or(rest.strip_prefix(b"'")).unwrap_or(rest);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_:".contains(byte);
    let end = rest.iter().position(|byte| !is_name(byte)).unwrap_or(rest.len());
    Some(&rest[..end])
}

/// Renders the source of a page as text, up to about `limit` bytes.
pub(crate) fn render_html(source: &str, limit: usize) -> String {
    let mut page = PageText::default();
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(source, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let attribute = |name: &[u8]| {
                    let value = tag.attributes.iter().find(|(key, _)| key.as_slice() == name);
                    value.map(|(_, value)| String::from_utf8_lossy(value.as_slice()).into_owned())
                };
                page.open(&tag.name, attribute);
            }
            Token::EndTag(tag) => page.close(&tag.name),
            Token::String(text) => page.add(&String::from_utf8_lossy(&text)),
            _ => {}
        }
        if page.text.len() > limit {
            break;
        }
    }
    page.text
}

/// The text of a page so far.
#[derive(Default)]
struct PageText {
    text: String,
    /// The hidden element that is open, and how often.
    hidden: Option<(Vec<u8>, usize)>,
    /// How many `pre` are open.
    preformatted: usize,
    /// Whether a blank belongs before the next word.
    needs_blank: bool,
    /// Where the open link leads to.
    link: Option<String>,
    /// Whether the row of the open table has a cell.
    has_cell: bool,
}

impl PageText {
    fn open(&mut self, name: &[u8], attribute: impl Fn(&[u8]) -> Option<String>) {
        if let Some((hidden, count)) = &mut self.hidden {
            *count += usize::from(hidden == name);
            return;
        }
        if HIDDEN_ELEMENTS.contains(&name) {
            self.hidden = Some((name.to_owned(), 1));
            return;
        }
        self.break_around(name);
        match name {
            b"br" => self.text.push('\n'),
            b"li" => self.text.push_str("- "),
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => {
                self.text.push_str(&"#".repeat(usize::from(name[1] - b'0')));
                self.text.push(' ');
            }
            b"tr" => self.has_cell = false,
            b"td" | b"th" => {
                if self.has_cell {
                    self.text.truncate(self.text.trim_end_matches(' ').len());
                    self.text.push_str(" | ");
                }
                self.has_cell = true;
                self.needs_blank = false;
            }
            b"pre" => self.preformatted += 1,
            b"img" => {
                if let Some(alt) = attribute(b"alt").filter(|alt| !alt.trim().is_empty()) {
                    self.add(&format!(" [image: {}] ", alt.trim()));
                }
            }
            b"a" => {
                let is_address = |link: &String| {
                    ["http://", "https://", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
                };
                self.link = attribute(b"href").filter(is_address);
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        if let Some((hidden, count)) = &mut self.hidden {
            if hidden == name {
                *count -= 1;
                if *count == 0 {
                    self.hidden = None;
                }
            }
            return;
        }
        match name {
            b"a" => {
                if let Some(link) = self.link.take()
                    && !self.text.trim_end().ends_with(link.trim_start_matches("mailto:"))
                {
                    self.add(&format!(" <{link}>"));
                }
            }
            b"pre" => self.preformatted = self.preformatted.saturating_sub(1),
            _ => {}
        }
        self.break_around(name);
    }

    /// Begins a new line for the elements that stand on their own. In a cell of a table a paragraph
    /// does not.
    fn break_around(&mut self, name: &[u8]) {
        if SPACED_ELEMENTS.contains(&name) && !self.has_cell {
            self.break_line(2);
        } else if name == b"tr" || name == b"table" {
            self.has_cell = false;
            self.break_line(1);
        } else if BLOCK_ELEMENTS.contains(&name) || SPACED_ELEMENTS.contains(&name) {
            if self.has_cell {
                self.needs_blank = true;
            } else {
                self.break_line(1);
            }
        }
    }

    fn break_line(&mut self, breaks: usize) {
        self.needs_blank = false;
        self.text.truncate(self.text.trim_end_matches(' ').len());
        if self.text.is_empty() {
            return;
        }
        let present = self.text.len() - self.text.trim_end_matches('\n').len();
        for _ in present..breaks {
            self.text.push('\n');
        }
    }

    fn add(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        if self.preformatted > 0 {
            self.text.push_str(text);
            return;
        }
        for (index, word) in text.split([' ', '\t', '\n', '\r', '\u{c}']).enumerate() {
            self.needs_blank |= index > 0;
            if word.is_empty() {
                continue;
            }
            if self.needs_blank && !self.text.is_empty() && !self.text.ends_with(['\n', ' ']) {
                self.text.push(' ');
            }
            self.needs_blank = false;
            self.text.push_str(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let document = extract_page(source.as_bytes()).expect("a page");
        assert_eq!(document.parts[0].text, expected);
    }

    #[test]
    fn a_page_reads_as_it_looks() {
        check(
            "<!DOCTYPE html><title>A &amp; B</title><style>p{}</style><h1>Head</h1><p>One <b>bold</b>\n word.<p>Two<br>lines<ul><li>x<li>y</ul>",
            "A & B\n\n# Head\n\nOne bold word.\n\nTwo\nlines\n- x\n- y\n",
        );
        check(
            "<table><tr><th>Name<th>Rent</tr><tr><td><p>Anna</p></td><td>900&nbsp;&euro;</td></table>after",
            "Name | Rent\nAnna | 900\u{a0}€\nafter\n",
        );
        check("<pre>a\n  b</pre>", "a\n  b\n");
        check(
            "<a href='https://example.com/x'>the page</a> <a href='#top'>up</a><img alt='A map'>",
            "the page <https://example.com/x> up [image: A map]\n",
        );
    }

    #[test]
    fn what_is_not_shown_is_left_out() {
        check(
            "a<script>if (a</b>b) '<p>'</script>b<template><p>x<template></template>y</template>c",
            "abc\n",
        );
        check("<p>a<!-- b --></p>", "a\n");
        check("<p>unclosed <i>tags <td", "unclosed tags\n");
    }

    #[test]
    fn the_encoding_is_the_one_that_the_page_names() {
        let mut page = b"<meta charset=windows-1251><p>".to_vec();
        page.extend(encoding_rs::WINDOWS_1251.encode("Да").0.iter());
        let document = extract_page(&page).expect("a page");
        assert_eq!(document.parts[0].text, "Да\n");
        assert_eq!(document.encoding.as_deref(), Some("windows-1251"));
    }

    #[test]
    fn depth_costs_nothing() {
        let deep = format!("{}x", "<div><table><tr><td>".repeat(50_000));
        check(&deep, "x\n");
    }
}
