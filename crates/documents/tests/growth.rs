//! The law of growth where documents enter: time and memory grow linearly with the file.

use countersign_documents::extract_document;
use peak_alloc::PeakAlloc;
use testkit::{GrowthTarget, ResourceMeter, process_time};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const METER: ResourceMeter = ResourceMeter {
    time: process_time,
    reset: || ALLOCATOR.reset_peak_usage(),
    current: || ALLOCATOR.current_usage(),
    peak: || ALLOCATOR.peak_usage(),
};

fn read(name: &'static str) -> impl Fn(&Vec<u8>) {
    // What matters is that it ends, with a text or an error.
    move |bytes| drop(extract_document(name, bytes))
}

/// A PDF whose objects are given; the first is the catalog.
fn write_pdf(objects: &[String]) -> Vec<u8> {
    let mut out = "%PDF-1.4\n".to_owned();
    for (index, object) in objects.iter().enumerate() {
        out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", index + 1));
    }
    out.push_str("trailer\n<< /Root 1 0 R >>\n");
    out.into_bytes()
}

#[test]
fn documents_that_are_read() {
    let mut door = GrowthTarget::new("document", &METER);
    door.measure_family("text in one line", 200_000, |size| vec![b'a'; size], read("a.txt"))
        .measure_family(
            "bytes of no encoding",
            50_000,
            |size| (0..size).map(|n| 128 + (n * 7 % 128) as u8).collect(),
            read("a.txt"),
        )
        .measure_family(
            "tags that are never closed",
            20_000,
            |size| b"<div><a href=x>".repeat(size),
            read("a.html"),
        )
        .measure_family("open angles", 100_000, |size| b"<".repeat(size), read("a.html"))
        .measure_family("blanks", 100_000, |size| b"<p> ".repeat(size), read("a.html"))
        .measure_family(
            "attributes of one tag",
            10_000,
            |size| {
                let names: Vec<String> = (0..size).map(|n| format!("a{n}=b")).collect();
                format!("<a {}>", names.join(" ")).into()
            },
            read("a.html"),
        )
        .measure_family(
            "parts of a mail",
            500,
            |size| {
                let part = "--b\nContent-Type: text/plain; name=a.txt\nContent-Disposition: attachment\n\ntext\n";
                format!("Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n{}", part.repeat(size)).into()
            },
            read("a.eml"),
        )
        .measure_family(
            "pages of a PDF",
            200,
            |size| {
                let kids: Vec<String> = (0..size).map(|n| format!("{} 0 R", n + 3)).collect();
                let pages = format!("<< /Type /Pages /Count {size} /Kids [{}] >>", kids.join(" "));
                let page = "<< /Type /Page /Parent 2 0 R >>".to_owned();
                let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned(), pages];
                objects.extend(std::iter::repeat_n(page, size));
                write_pdf(&objects)
            },
            read("a.pdf"),
        );
    door.assert_linear();
}
