//! What becomes of Markdown, and that hostile text still gives a well-formed document.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;

use super::render_docx;

fn read_part(bytes: &[u8], name: &str) -> String {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

fn render_text(markdown: &str) -> String {
    let document = read_part(&render_docx(markdown).unwrap(), "word/document.xml");
    check_nesting(&document);
    document
}

/// Every tag that is opened is closed in order.
#[track_caller]
fn check_nesting(xml: &str) {
    let mut open = Vec::new();
    for tag in xml.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap();
        assert!(!text.contains('>'), "{text}");
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{xml}");
        } else if !tag.ends_with('/') && !tag.starts_with('?') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[track_caller]
fn check(markdown: &str, parts: &[&str]) {
    let document = render_text(markdown);
    for part in parts {
        assert!(document.contains(part), "{part} is not in {document}");
    }
}

#[test]
fn what_markdown_says_is_in_the_document() {
    check(
        "# Supply\n\nOf *two* **chairs**.",
        &[
            "<w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t xml:space=\"preserve\">Supply</w:t></w:r></w:p>",
            "<w:rPr><w:i/></w:rPr><w:t xml:space=\"preserve\">two</w:t>",
            "<w:rPr><w:b/></w:rPr><w:t xml:space=\"preserve\">chairs</w:t>",
        ],
    );
    check(
        "- one\n- two\n  1. three",
        &[
            "<w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr><w:r><w:t xml:space=\"preserve\">two",
            "<w:ilvl w:val=\"1\"/><w:numId w:val=\"2\"/></w:numPr></w:pPr><w:r><w:t xml:space=\"preserve\">three",
        ],
    );
    check(
        "| Clause | Fact |\n| --- | --- |\n| 1.1 | a \\| b |\n| | |",
        &[
            "<w:tblHeader/>",
            "<w:t xml:space=\"preserve\">| b</w:t>",
            "<w:tc><w:tcPr/><w:p><w:pPr></w:pPr></w:p></w:tc>",
        ],
    );
    check(
        "> said\n\n```\nlet a;\n\nb\n```\n\n[here](https://example.org/a?b&c)\n\nline\\\nbreak\n\n---",
        &[
            "<w:pStyle w:val=\"Quote\"/>",
            "<w:pStyle w:val=\"CodeBlock\"/>",
            "here</w:t></w:r><w:r><w:t xml:space=\"preserve\"> (https://example.org/a?b&amp;c)</w:t>",
            "<w:br/>",
            "<w:pBdr>",
        ],
    );
    check(
        "Нужен договор: 合同 <b>x</b> & \"y\"",
        &["Нужен договор: 合同 ", "&lt;b&gt;", "&amp; &quot;y&quot;"],
    );
}

#[test]
fn an_ordered_list_counts_from_its_own_number() {
    let bytes = render_docx("3. three\n4. four\n\ntext\n\n1. one").unwrap();
    let numbering = read_part(&bytes, "word/numbering.xml");
    check_nesting(&numbering);
    assert!(numbering.contains("<w:num w:numId=\"2\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"3\"/>"));
    assert!(numbering.contains("<w:num w:numId=\"3\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"1\"/>"));
    check_nesting(&read_part(&bytes, "word/styles.xml"));
}

#[test]
fn the_same_text_gives_the_same_bytes() {
    let text = "# Title\n\n| a | b |\n| - | - |\n| 1 | 2 |\n";
    assert_eq!(render_docx(text).unwrap(), render_docx(text).unwrap());
    assert_ne!(render_docx(text).unwrap(), render_docx("# Titles").unwrap());
}

#[test]
fn hostile_text_gives_a_well_formed_document() {
    for text in [
        String::new(),
        "\0\u{1}\u{b}\u{fffe} a \u{202e}b".to_owned(),
        ">".repeat(5_000),
        "- ".repeat(5_000),
        "*".repeat(5_000),
        "[".repeat(5_000) + &"](x)".repeat(5_000),
        "|".repeat(5_000) + "\n" + &"|-".repeat(5_000) + "|\n",
        "<w:p></w:body>]]>&lt;".repeat(100),
        "# \n\n- \n\n1. \n\n```".to_owned(),
    ] {
        let document = render_text(&text);
        assert!(!document.contains('\0') && !document.contains('\u{1}'), "{text:.40}");
    }
}
