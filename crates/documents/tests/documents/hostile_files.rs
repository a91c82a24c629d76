//! Files that want to use up memory, time or the stack: each is an error that says what is wrong, or
//! is read up to a limit.

use std::panic::catch_unwind;

use countersign_documents::limits::{MAX_DOCUMENT_BYTES, MAX_TEXT_BYTES};
use countersign_documents::{DocumentErrorKind, extract_document};

use crate::written_files::{
    FIXTURES, fixture, write_archive, write_docx, write_pdf, write_pptx, write_xlsx,
};

#[track_caller]
fn check(name: &str, bytes: &[u8], kind: DocumentErrorKind, message: &str) {
    let error = extract_document(name, bytes).expect_err(name);
    assert_eq!((error.kind, error.message.as_str()), (kind, message), "{name}");
}

#[test]
fn bombs_are_named() {
    let zeros = vec![b' '; 100 << 20];
    let limits = "unpacks to more than the limits allow: part `PART` exceeds 64 MiB, or all parts exceed 128 MiB";
    let bomb = write_docx(&zeros);
    assert!(bomb.len() < 1 << 20);
    check(
        "a.docx",
        &bomb,
        DocumentErrorKind::TooLarge,
        &limits.replace("PART", "word/document.xml"),
    );
    // No slide is too large alone.
    let slide = [b"<sld>", &zeros[..50 << 20], b"</sld>"].concat();
    check(
        "a.pptx",
        &write_pptx(&slide, 10),
        DocumentErrorKind::TooLarge,
        &limits.replace("PART", "ppt/slide.xml"),
    );
    let bytes = vec![b'a'; MAX_DOCUMENT_BYTES as usize + 1];
    check("a.txt", &bytes, DocumentErrorKind::TooLarge, "is larger than 32 MiB");
}

#[test]
fn a_small_file_cannot_repeat_itself_into_a_large_text() {
    // One string of 1 MiB that all cells of one row show.
    let strings = format!("<sst><si><t>{}</t></si></sst>", "x".repeat(1 << 20));
    let cells = "<c t='s'><v>0</v></c>".repeat(16_000);
    let sheet = format!("<worksheet><sheetData><row>{cells}</row></sheetData></worksheet>");
    let document = extract_document("a.xlsx", &write_xlsx(sheet.as_bytes(), strings.as_bytes()));
    let document = document.expect("a part of it");
    assert_eq!(document.text_bytes(), MAX_TEXT_BYTES);
    assert_eq!(document.notes, ["the text is longer than 4 MiB; the rest was left out"]);

    let bomb = "<!DOCTYPE a [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]><document><p><r><t>&b;</t></r></p></document>";
    let document = extract_document("a.docx", &write_docx(bomb.as_bytes())).expect("a text");
    assert_eq!(document.parts[0].text, "&b;\n");
}

#[test]
fn depth_and_cycles_end() {
    let deep = format!("<document>{}", "<tbl><tr><tc>".repeat(100_000));
    check(
        "a.docx",
        &write_docx(deep.as_bytes()),
        DocumentErrorKind::TooLarge,
        "has a part `word/document.xml` whose elements nest deeper than 256",
    );
    let deep = format!("{}text", "<div>".repeat(500_000));
    let document = extract_document("a.html", deep.as_bytes()).expect("a page");
    assert_eq!(document.parts[0].text, "text\n");

    // A tree of pages that contains itself.
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 /Parent 3 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [2 0 R] /Count 1 /Parent 2 0 R >>".to_owned(),
    ];
    check(
        "a.pdf",
        &write_pdf(&objects),
        DocumentErrorKind::Broken,
        "is a damaged PDF: no page was found",
    );

    // Drawings that use each other many times, ten deep, and themselves.
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /Resources << /XObject << /X 5 0 R >> >> /Contents 4 0 R >>"
            .to_owned(),
        "<< /Length 5 >>\nstream\n/X Do\nendstream".to_owned(),
    ];
    for number in 5..15 {
        let (content, next) = ("/X Do /X Do /Y Do ".repeat(30) + &" ".repeat(100_000), number + 1);
        objects.push(format!(
            "<< /Type /XObject /Subtype /Form /Resources << /XObject << /X {next} 0 R /Y {number} 0 R >> >> /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ));
    }
    check(
        "a.pdf",
        &write_pdf(&objects),
        DocumentErrorKind::TooLarge,
        "is a PDF that unpacks to more than the limits allow: 16 MiB in one stream, 256 MiB in all pages",
    );

    // A mail in a mail in a mail …
    let mut mail = "Subject: innermost\n\nsecret\n".to_owned();
    for _ in 0..40 {
        mail = format!(
            "Subject: outer\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n{mail}\n"
        );
    }
    let document = extract_document("a.eml", mail.as_bytes()).expect("the outer mails");
    assert!(document.text_bytes() < 10_000, "{}", document.text_bytes());
}

#[test]
fn damaged_files_say_what_is_damaged() {
    let check_start = |name: &str, bytes: &[u8], start: &str| {
        let error = extract_document(name, bytes).expect_err(name);
        assert_eq!(error.kind, DocumentErrorKind::Broken, "{name}: {error}");
        assert!(error.message.starts_with(start), "{name}: {error}");
    };
    let docx = fixture("lease.docx");
    check_start("a.docx", &docx[..docx.len() / 2], "is a damaged ZIP archive: ");
    check_start(
        "a.docx",
        &write_docx(b"<document><p></document>"),
        "has a damaged part `word/document.xml`: ",
    );
    check_start("a.pdf", b"%PDF-1.7\nnothing", "is a damaged PDF: ");
    let pdf = fixture("contract.pdf");
    let cut = extract_document("a.pdf", &pdf[..pdf.len() / 3]);
    assert!(cut.is_err(), "{cut:?}");
    check_start("a.eml", b"\n\nno headers", "is not a readable mail");
    let plain = write_archive(&[("a.txt", b"a")]);
    check(
        "a.docx",
        &plain,
        DocumentErrorKind::Unsupported,
        "is a ZIP archive, which is not read; extract its files",
    );
    let no_sheet = write_xlsx(b"", b"<sst/>");
    assert!(extract_document("a.xlsx", &no_sheet).is_ok_and(|book| book.parts[0].text.is_empty()));
}

/// Whatever is cut off or changed, reading ends. A panic in a library is an error of the reading
/// process; it may not be more than a few.
#[test]
fn no_change_of_a_byte_is_fatal() {
    let (mut panics, mut total) = (0, 0);
    for name in FIXTURES {
        let bytes = fixture(name);
        let mut random = 0x2545_F491_4F6C_DD1D_u64;
        for round in 0..60 {
            let mut changed = bytes.clone();
            for _ in 0..=round % 7 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = (random >> 33) as usize % changed.len();
                changed[at] = (random >> 25) as u8;
            }
            if round % 3 == 0 {
                changed.truncate((random >> 33) as usize % changed.len());
            }
            total += 1;
            panics += usize::from(catch_unwind(|| drop(extract_document(name, &changed))).is_err());
        }
    }
    assert_eq!(panics, 0, "of {total}");
}
