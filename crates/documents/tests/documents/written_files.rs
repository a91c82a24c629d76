//! Files that the tests read or write themselves.

use std::io::{Cursor, Write as _};
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The names of the fixtures that can be read.
pub(crate) const FIXTURES: [&str; 7] = [
    "lease.docx",
    "budget.xlsx",
    "report.pptx",
    "contract.pdf",
    "claim.pdf",
    "page.pdf",
    "mail.eml",
];

/// Returns the bytes of a fixture.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(path).expect("the fixture exists")
}

const PREFIX: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Writes an archive with these parts.
pub(crate) fn write_archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in parts {
        archive.start_file(*path, SimpleFileOptions::default()).expect("a new part");
        archive.write_all(content).expect("memory does not fail");
    }
    archive.finish().expect("memory does not fail").into_inner()
}

/// Writes relationships: id, type and target.
pub(crate) fn write_relationships(relations: &[(&str, &str, &str)]) -> String {
    let mut xml = "<Relationships>".to_owned();
    for (id, kind, target) in relations {
        xml.push_str(&format!(
            "<Relationship Id='{id}' Type='{PREFIX}/{kind}' Target='{target}'/>"
        ));
    }
    xml + "</Relationships>"
}

/// Writes a Word document whose main part is given.
pub(crate) fn write_docx(main: &[u8]) -> Vec<u8> {
    let roots = write_relationships(&[("r", "officeDocument", "word/document.xml")]);
    write_archive(&[("_rels/.rels", roots.as_bytes()), ("word/document.xml", main)])
}

/// Writes a workbook of one sheet, with its shared strings.
pub(crate) fn write_xlsx(sheet: &[u8], strings: &[u8]) -> Vec<u8> {
    let roots = write_relationships(&[("r", "officeDocument", "xl/workbook.xml")]);
    let book = "<workbook><sheets><sheet name='A' sheetId='1' r:id='s'/></sheets></workbook>";
    let inner = write_relationships(&[
        ("s", "worksheet", "sheet.xml"),
        ("t", "sharedStrings", "strings.xml"),
    ]);
    write_archive(&[
        ("_rels/.rels", roots.as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", inner.as_bytes()),
        ("xl/sheet.xml", sheet),
        ("xl/strings.xml", strings),
    ])
}

/// Writes a presentation that shows one slide so many times.
pub(crate) fn write_pptx(slide: &[u8], times: usize) -> Vec<u8> {
    let roots = write_relationships(&[("r", "officeDocument", "ppt/presentation.xml")]);
    let shown = "<p:sldId id='256' r:id='s'/>".repeat(times);
    let main = format!("<presentation><sldIdLst>{shown}</sldIdLst></presentation>");
    let inner = write_relationships(&[("s", "slide", "slide.xml")]);
    write_archive(&[
        ("_rels/.rels", roots.as_bytes()),
        ("ppt/presentation.xml", main.as_bytes()),
        ("ppt/_rels/presentation.xml.rels", inner.as_bytes()),
        ("ppt/slide.xml", slide),
    ])
}

/// Writes a PDF from its objects, which are numbered from 1; object 1 is the catalog.
pub(crate) fn write_pdf(objects: &[String]) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(out.len());
        out.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).bytes());
    }
    let (start, size) = (out.len(), objects.len() + 1);
    out.extend(format!("xref\n0 {size}\n0000000000 65535 f \n").bytes());
    for offset in offsets {
        out.extend(format!("{offset:010} 00000 n \n").bytes());
    }
    let trailer = format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    out.extend(trailer.bytes());
    out
}

/// Writes a PDF with so many pages of so many lines.
pub(crate) fn write_pdf_pages(pages: usize, lines: usize) -> Vec<u8> {
    let kids: Vec<String> = (0..pages).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {pages} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
    ];
    for page in 0..pages {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
            5 + 2 * page
        ));
        let mut content = "BT /F1 12 Tf 72 720 Td\n".to_owned();
        for line in 0..lines {
            content.push_str(&format!(
                "(Line {line} of page {page} says what was agreed.) Tj 0 -14 Td\n"
            ));
        }
        content.push_str("ET");
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    write_pdf(&objects)
}
