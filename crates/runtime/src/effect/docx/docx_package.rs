//! The package of a Word document: a ZIP file with the parts that a reader needs, and no more.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::docx_text::DocxText;

const NAMESPACE: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";
const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

const CONTENT_TYPES: &str = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/><Override PartName="/word/numbering.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml"/></Types>"#;

const PACKAGE_RELATIONS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;

const DOCUMENT_RELATIONS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering" Target="numbering.xml"/></Relationships>"#;

/// A4 with margins of 2.5 cm, in twentieths of a point.
const SECTION: &str = r#"<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1417" w:right="1417" w:bottom="1417" w:left="1417" w:header="708" w:footer="708" w:gutter="0"/></w:sectPr>"#;

/// Sizes of headings 1 to 6, in half points.
const HEADING_SIZES: [u32; 6] = [32, 28, 26, 24, 22, 22];

/// Writes the package. All its times are the first that a ZIP file can hold, and nothing is
/// compressed: what a compressor makes may depend on the processor, and the same text must give the
/// same file on every machine.
pub(super) fn write_package(text: &DocxText) -> Result<Vec<u8>, ZipError> {
    let parts = [
        ("[Content_Types].xml", CONTENT_TYPES.to_owned()),
        ("_rels/.rels", PACKAGE_RELATIONS.to_owned()),
        ("word/_rels/document.xml.rels", DOCUMENT_RELATIONS.to_owned()),
        ("word/styles.xml", write_styles()),
        ("word/numbering.xml", write_numbering(&text.list_starts)),
        (
            "word/document.xml",
            format!(
                "<w:document {NAMESPACE}><w:body>{}{SECTION}</w:body></w:document>",
                text.content
            ),
        ),
    ];
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut package = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        package.start_file(name, options)?;
        package.write_all(XML.as_bytes())?;
        package.write_all(content.as_bytes())?;
    }
    Ok(package.finish()?.into_inner())
}

fn write_styles() -> String {
    let mut styles = format!(
        "<w:styles {NAMESPACE}><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii=\"Calibri\" w:hAnsi=\"Calibri\" w:cs=\"Calibri\"/><w:sz w:val=\"22\"/></w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after=\"120\" w:line=\"264\" w:lineRule=\"auto\"/></w:pPr></w:pPrDefault></w:docDefaults><w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/></w:style>"
    );
    for (depth, size) in (1..).zip(HEADING_SIZES) {
        let outline = depth - 1;
        let _ = write!(
            styles,
            "<w:style w:type=\"paragraph\" w:styleId=\"Heading{depth}\"><w:name w:val=\"heading {depth}\"/><w:basedOn w:val=\"Normal\"/><w:next w:val=\"Normal\"/><w:pPr><w:keepNext/><w:spacing w:before=\"240\" w:after=\"120\"/><w:outlineLvl w:val=\"{outline}\"/></w:pPr><w:rPr><w:b/><w:sz w:val=\"{size}\"/></w:rPr></w:style>"
        );
    }
    styles.push_str("<w:style w:type=\"paragraph\" w:styleId=\"ListParagraph\"><w:name w:val=\"List Paragraph\"/><w:basedOn w:val=\"Normal\"/></w:style>");
    styles.push_str("<w:style w:type=\"paragraph\" w:styleId=\"Quote\"><w:name w:val=\"Quote\"/><w:basedOn w:val=\"Normal\"/><w:pPr><w:ind w:left=\"720\"/></w:pPr><w:rPr><w:i/></w:rPr></w:style>");
    styles.push_str("<w:style w:type=\"paragraph\" w:styleId=\"CodeBlock\"><w:name w:val=\"Code Block\"/><w:basedOn w:val=\"Normal\"/><w:pPr><w:spacing w:after=\"0\"/></w:pPr></w:style>");
    styles.push_str("<w:style w:type=\"character\" w:styleId=\"CodeText\"><w:name w:val=\"Code Text\"/><w:rPr><w:rFonts w:ascii=\"Consolas\" w:hAnsi=\"Consolas\" w:cs=\"Consolas\"/></w:rPr></w:style>");
    styles.push_str("<w:style w:type=\"table\" w:default=\"1\" w:styleId=\"TableNormal\"><w:name w:val=\"Normal Table\"/></w:style><w:style w:type=\"table\" w:styleId=\"TableGrid\"><w:name w:val=\"Table Grid\"/><w:basedOn w:val=\"TableNormal\"/><w:tblPr><w:tblBorders>");
    for side in ["top", "left", "bottom", "right", "insideH", "insideV"] {
        let _ = write!(
            styles,
            "<w:{side} w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"auto\"/>"
        );
    }
    styles.push_str("</w:tblBorders><w:tblCellMar><w:left w:w=\"108\" w:type=\"dxa\"/><w:right w:w=\"108\" w:type=\"dxa\"/></w:tblCellMar></w:tblPr></w:style></w:styles>");
    styles
}

/// Writes the numberings: 1 is the bullets, and each ordered list counts on its own.
fn write_numbering(list_starts: &[u64]) -> String {
    let mut numbering = format!("<w:numbering {NAMESPACE}>");
    for (id, format) in [(0, "bullet"), (1, "decimal")] {
        let _ = write!(
            numbering,
            "<w:abstractNum w:abstractNumId=\"{id}\"><w:multiLevelType w:val=\"multilevel\"/>"
        );
        for level in 0..9 {
            let mark =
                if format == "bullet" { "•".to_owned() } else { format!("%{}.", level + 1) };
            let left = 720 * (level + 1);
            let _ = write!(
                numbering,
                "<w:lvl w:ilvl=\"{level}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/><w:lvlText w:val=\"{mark}\"/><w:lvlJc w:val=\"left\"/><w:pPr><w:ind w:left=\"{left}\" w:hanging=\"360\"/></w:pPr></w:lvl>"
            );
        }
        numbering.push_str("</w:abstractNum>");
    }
    numbering.push_str("<w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>");
    for (id, start) in (2..).zip(list_starts) {
        let _ = write!(numbering, "<w:num w:numId=\"{id}\"><w:abstractNumId w:val=\"1\"/>");
        for level in 0..9 {
            let _ = write!(
                numbering,
                "<w:lvlOverride w:ilvl=\"{level}\"><w:startOverride w:val=\"{start}\"/></w:lvlOverride>"
            );
        }
        numbering.push_str("</w:num>");
    }
    numbering.push_str("</w:numbering>");
    numbering
}
