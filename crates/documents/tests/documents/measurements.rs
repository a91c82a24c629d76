//! How long reading takes. `cargo test --release -p countersign-documents --test documents
//! measurements -- --nocapture` prints it.

use std::time::Instant;

use countersign_documents::extract_document;

use crate::written_files::{write_docx, write_pdf_pages, write_pptx, write_xlsx};

/// About a megabyte of what a format needs per megabyte.
fn build_files(megabytes: usize) -> Vec<(&'static str, Vec<u8>)> {
    let count = megabytes * 1_000_000;
    let line = "The tenant pays the rent by the fifth day of each month. ";
    let paragraph = format!("<p><r><t>{line}</t></r></p>");
    let docx = format!("<document>{}</document>", paragraph.repeat(count / paragraph.len()));
    let slide = format!("<sld>{}</sld>", paragraph.repeat(200));
    let row = "<row><c t='inlineStr'><is><t>Rent of the month</t></is></c><c><v>45000.5</v></c><c><v>0.25</v></c></row>";
    let sheet =
        format!("<worksheet><sheetData>{}</sheetData></worksheet>", row.repeat(count / row.len()));
    let page = format!(
        "<html><body>{}</body></html>",
        format!("<p>{line}<b>{line}</b></p>").repeat(count / 130)
    );
    let russian = "Арендатор вносит плату до пятого числа. ".repeat(count / 40);
    let (cyrillic, ..) = encoding_rs::WINDOWS_1251.encode(&russian);
    let csv = "Rent;45000.5;0.25\n".repeat(count / 18);
    let mail = format!(
        "Subject: a\nContent-Type: text/plain; charset=utf-8\n\n{}",
        format!("{line}\n").repeat(count / 58)
    );
    vec![
        ("text.txt", russian.clone().into_bytes()),
        ("cyrillic.txt", cyrillic.into_owned()),
        ("table.csv", csv.into_bytes()),
        ("page.html", page.into_bytes()),
        ("mail.eml", mail.into_bytes()),
        ("text.pdf", write_pdf_pages(count / 3_800, 50)),
        ("text.docx", write_docx(docx.as_bytes())),
        ("sheet.xlsx", write_xlsx(sheet.as_bytes(), b"<sst/>")),
        ("slides.pptx", write_pptx(slide.as_bytes(), count / slide.len())),
    ]
}

#[test]
fn every_format_is_read_within_seconds() {
    println!("format        file      text    time   per MB of text");
    for (name, bytes) in build_files(2) {
        let started = Instant::now();
        let document =
            extract_document(name, &bytes).unwrap_or_else(|error| panic!("{name} {error}"));
        let took = started.elapsed();
        let text = document.text_bytes() as f64 / 1e6;
        let milliseconds = took.as_secs_f64() * 1e3;
        println!(
            "{name:<12} {:>5.2} MB  {text:>5.2} MB  {milliseconds:>5.0} ms  {:>5.0} ms",
            bytes.len() as f64 / 1e6,
            milliseconds / text
        );
        assert!(text > 0.3, "{name} has {text} MB of text");
        assert!(took.as_secs() < 20, "{name} took {took:?}");
    }
}
