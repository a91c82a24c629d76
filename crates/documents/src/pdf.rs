//! Extracts the text of a PDF file, page by page.

use lopdf::{Document, LoadOptions, ObjectId};

use crate::document_text::{TextCollector, clean_text};
use crate::limits::MAX_PARTS;
use crate::pdf_text::{MAX_CONTENT_BYTES, PageReader};
use crate::{DocumentError, DocumentErrorKind, DocumentFormat, DocumentPartKind, DocumentText};

/// Maximum decompressed size of one stream in the file.
const MAX_STREAM_BYTES: usize = 16 * 1024 * 1024;

/// Pages without text that a note lists.
const MAX_LISTED_PAGES: usize = 20;

/// Extracts the pages of a PDF file.
pub(crate) fn extract_pages(bytes: &[u8]) -> Result<DocumentText, DocumentError> {
    let options = LoadOptions::with_max_decompressed_size(MAX_STREAM_BYTES);
    let document =
        Document::load_mem_with_options(bytes, options).map_err(|error| describe_error(&error))?;
    if document.is_encrypted() {
        return Err(protected_error());
    }
    let pages: Vec<ObjectId> = document.page_iter().take(MAX_PARTS + 1).collect();
    if pages.is_empty() {
        return Err(DocumentError::broken("is a damaged PDF: no page was found"));
    }
    let mut collector = TextCollector::new(DocumentFormat::Pdf);
    let (mut empty, mut damaged) = (Vec::new(), Vec::new());
    let mut reader = PageReader::new(&document, MAX_STREAM_BYTES);
    for (page, number) in pages.iter().zip(1..) {
        if collector.is_full() {
            break;
        }
        let text = match reader.read(*page, collector.remaining_bytes()) {
            Ok(text) => text,
            Err(error) => {
                let error = describe_error(&error);
                if error.kind == DocumentErrorKind::TooLarge {
                    return Err(error);
                }
                // A page in an unreadable font does not affect the others.
                damaged.push(number);
                String::new()
            }
        };
        if clean_text(&text).is_empty() && damaged.last() != Some(&number) {
            empty.push(number);
        }
        collector.push(DocumentPartKind::Page, "", &text);
    }
    if empty.len() == pages.len() {
        let message = format!(
            "is a PDF without text: its {} {} images, such as a scan; images are not read",
            pages.len(),
            if pages.len() == 1 { "page is" } else { "pages are" }
        );
        return Err(DocumentError::new(DocumentErrorKind::Image, message));
    }
    for (pages, what) in [
        (&empty, "without text; they may be images, which are not read"),
        (&damaged, "that could not be read"),
    ] {
        if !pages.is_empty() {
            collector.note(format!("pages {what}: {}", list_pages(pages)));
        }
    }
    collector.finish()
}

fn list_pages(pages: &[u32]) -> String {
    let shown = pages.iter().take(MAX_LISTED_PAGES).map(u32::to_string);
    let more = pages.len().saturating_sub(MAX_LISTED_PAGES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

fn protected_error() -> DocumentError {
    DocumentError::new(DocumentErrorKind::PasswordProtected, "is a PDF with a password")
}

fn describe_error(error: &lopdf::Error) -> DocumentError {
    use lopdf::{DecompressError, Error};
    match error {
        Error::Decompress(DecompressError::MemoryLimitExceeded { .. }) => {
            let (one, all) = (MAX_STREAM_BYTES >> 20, MAX_CONTENT_BYTES >> 20);
            DocumentError::too_large(format!(
                "is a PDF that unpacks to more than the limits allow: {one} MiB in one stream, {all} MiB in all pages"
            ))
        }
        Error::Decryption(_) | Error::InvalidPassword => protected_error(),
        error => DocumentError::broken(format!("is a damaged PDF: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pdf_says_so() {
        for bytes in [&b""[..], b"%PDF-1.7", b"hello", &[0; 4_000]] {
            let error = extract_pages(bytes).expect_err("not a PDF");
            assert_eq!(error.kind, DocumentErrorKind::Broken, "{error}");
            assert!(error.message.starts_with("is a damaged PDF: "), "{error}");
        }
    }
}
