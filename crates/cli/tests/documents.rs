//! Documents are read by the binary in a process of its own, which may break down.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use std::io::{Cursor, Write as _};
use std::time::Instant;

use countersign_documents::DocumentErrorKind;
use countersign_documents::limits::MEMORY_LIMIT_BYTES;
use countersign_runtime::document::DocumentReader;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn reader() -> DocumentReader {
    let binary = env!("CARGO_BIN_EXE_countersign").to_owned();
    DocumentReader::from_program(vec![binary, "read-document-from-stdin".to_owned()])
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = testkit::workspace_root().join("crates/documents/tests/fixtures");
    std::fs::read(folder.join(name)).unwrap()
}

/// A workbook whose table of strings is given.
fn write_workbook(strings: &[u8]) -> Vec<u8> {
    let kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relation = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id='{id}' Type='{kinds}/{kind}' Target='{target}'/>")
    };
    let inner = relation("s", "worksheet", "s.xml") + &relation("t", "sharedStrings", "t.xml");
    let parts = [
        ("_rels/.rels", relation("r", "officeDocument", "xl/workbook.xml")),
        ("xl/_rels/workbook.xml.rels", inner),
        ("xl/workbook.xml", "<sheet name='A' id='s'/>".to_owned()),
        ("xl/s.xml", "<row/>".to_owned()),
    ];
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, part) in parts {
        archive.start_file(path, SimpleFileOptions::default()).unwrap();
        let root = path.rsplit(['/', '.']).nth(1).unwrap_or_default();
        let part = if root == "workbook" {
            format!("<workbook>{part}</workbook>")
        } else {
            format!("<x>{part}</x>")
        };
        archive.write_all(part.as_bytes()).unwrap();
    }
    archive.start_file("xl/t.xml", SimpleFileOptions::default()).unwrap();
    archive.write_all(strings).unwrap();
    archive.finish().unwrap().into_inner()
}

#[tokio::test]
async fn every_format_is_read_in_another_process() {
    for name in
        ["lease.docx", "budget.xlsx", "report.pptx", "contract.pdf", "claim.pdf", "mail.eml"]
    {
        let started = Instant::now();
        let bytes = fixture(name);
        let document = reader().read(name, bytes.clone()).await.unwrap();
        let expected = countersign_documents::extract_document(name, &bytes).unwrap();
        assert_eq!(*document, expected, "{name}");
        println!("{name}: {} ms with the start of the process", started.elapsed().as_millis());
    }
    let error = reader().read("scan.pdf", fixture("scan.pdf")).await.unwrap_err();
    assert_eq!(error.kind, DocumentErrorKind::Image);
}

/// What unpacks to 60 MiB and needs ten times as much is stopped by the limit of the process, and
/// this process reads on.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn memory_stays_within_the_limit() {
    let strings = format!("<sst>{}</sst>", "<si/>".repeat(12_000_000));
    let bomb = write_workbook(strings.as_bytes());
    assert!(bomb.len() < 1 << 20, "the bomb has {} bytes", bomb.len());
    let error = reader().read("a.xlsx", bomb).await.unwrap_err();
    let most = MEMORY_LIMIT_BYTES >> 20;
    let expected = format!("needs more than {most} MiB of memory to be read");
    assert_eq!((error.kind, error.message), (DocumentErrorKind::TooLarge, expected));
    assert!(reader().read("lease.docx", fixture("lease.docx")).await.is_ok());
}

#[tokio::test]
async fn what_breaks_the_process_is_an_error_in_words() {
    let deep = [
        b"%PDF-1.4\n1 0 obj\n".to_vec(),
        b"[".repeat(4_000_000),
        b"\nendobj\ntrailer << /Root 1 0 R >>".to_vec(),
    ];
    for bytes in [&b"%PDF-1.4"[..], &deep.concat()] {
        let error = reader().read("a.pdf", bytes.to_vec()).await.unwrap_err();
        let is_named = error.message.starts_with("is a damaged PDF")
            || error.kind == DocumentErrorKind::ReaderCrashed;
        assert!(is_named, "{error:?}");
    }
    let absent = DocumentReader::from_program(vec!["/no/such/program".to_owned()]);
    let error = absent.read("lease.docx", fixture("lease.docx")).await.unwrap_err();
    assert_eq!(error.kind, DocumentErrorKind::ReaderUnavailable, "{error}");
    // Plain text needs no other process.
    assert!(absent.read("a.txt", b"text".to_vec()).await.is_ok());
}
