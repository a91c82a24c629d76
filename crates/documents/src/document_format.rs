//! Recognizes the format of a document by its first bytes, and by its name where those do not tell.

use crate::{DocumentError, DocumentErrorKind};

/// How far into a file the header of a PDF may begin.
const PDF_HEADER_WITHIN: usize = 1_024;

/// How many bytes of a file are looked at to find out whether it is text.
const BINARY_PROBE_BYTES: usize = 8_192;

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentFormat {
    /// Plain text, Markdown, CSV, source code: everything that is read as it is.
    Text,
    /// A web page.
    Html,
    /// A mail, with its attachments.
    Mail,
    /// A PDF file.
    Pdf,
    /// A Word document.
    Docx,
    /// An Excel workbook.
    Xlsx,
    /// A presentation of `PowerPoint`.
    Pptx,
}

/// Names and descriptions of the formats.
const FORMATS: [(DocumentFormat, &str, &str); 7] = [
    (DocumentFormat::Text, "text", "a text file"),
    (DocumentFormat::Html, "html", "an HTML page"),
    (DocumentFormat::Mail, "mail", "a mail"),
    (DocumentFormat::Pdf, "pdf", "a PDF"),
    (DocumentFormat::Docx, "docx", "a Word document"),
    (DocumentFormat::Xlsx, "xlsx", "an Excel workbook"),
    (DocumentFormat::Pptx, "pptx", "a PowerPoint presentation"),
];

/// What is recognized by its first bytes and not read: an offset, the bytes, and what it is.
const OTHER_SIGNATURES: [(usize, &[u8], &str); 20] = [
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\x89PNG", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (8, b"WEBP", "a WebP image"),
    (4, b"ftypheic", "a HEIC image"),
    (4, b"ftypavif", "an AVIF image"),
    (0, b"8BPS", "a Photoshop image"),
    (0, b"AT&TFORM", "a DjVu image"),
    (4, b"ftyp", "a video or audio file"),
    (0, b"OggS", "a video or audio file"),
    (0, b"ID3", "a video or audio file"),
    (0, b"{\\rtf", "an RTF document"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!", "a RAR archive"),
    (0, b"\x7fELF", "a program"),
    (0, b"SQLite format 3\0", "a SQLite database"),
];

impl DocumentFormat {
    /// The name of the format, such as `docx`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        FORMATS.iter().find(|(format, ..)| *format == self).map_or("text", |(_, name, _)| name)
    }

    /// Describes the format with its article, such as "a Word document".
    #[must_use]
    pub fn describe(self) -> &'static str {
        FORMATS.iter().find(|(format, ..)| *format == self).map_or("a file", |(.., what)| what)
    }

    /// Parses the name of a format.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        FORMATS.iter().find(|(_, known, _)| *known == name).map(|(format, ..)| *format)
    }

    /// Returns whether the format is read by a parser that an untrusted file may crash, so that it
    /// belongs into a process of its own.
    #[must_use]
    pub fn needs_process(self) -> bool {
        self != Self::Text
    }

    /// Recognizes the format of a file. `name` decides only where the bytes do not.
    ///
    /// # Errors
    /// The file is an image, a format that is not read, or not what its name claims. A file that
    /// begins like an Office file is assumed to be one.
    pub fn detect(name: &str, bytes: &[u8]) -> Result<Self, DocumentError> {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        let extension = extension.as_deref().unwrap_or_default();
        let by_name = match extension {
            "pdf" => Some(Self::Pdf),
            "docx" | "docm" | "dotx" => Some(Self::Docx),
            "xlsx" | "xlsm" | "xltx" => Some(Self::Xlsx),
            "pptx" | "pptm" | "ppsx" => Some(Self::Pptx),
            "html" | "htm" | "xhtml" => Some(Self::Html),
            "eml" => Some(Self::Mail),
            _ => None,
        };
        if find_pdf_header(bytes) && by_name.is_none_or(|format| format == Self::Pdf) {
            return Ok(Self::Pdf);
        }
        if bytes.starts_with(b"%PDF-") {
            return Ok(Self::Pdf);
        }
        if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
            // Which one it is, its content tells.
            return Ok(match by_name {
                Some(format @ (Self::Xlsx | Self::Pptx)) => format,
                _ => Self::Docx,
            });
        }
        if bytes.starts_with(b"\xd0\xcf\x11\xe0") {
            return Err(describe_compound_file(by_name));
        }
        for (offset, signature, what) in OTHER_SIGNATURES {
            if bytes.get(offset..).is_some_and(|rest| rest.starts_with(signature)) {
                return Err(refuse_signature(what));
            }
        }
        match by_name {
            Some(format @ (Self::Pdf | Self::Docx | Self::Xlsx | Self::Pptx)) => {
                let (what, found) = (format.describe(), describe_bytes(bytes));
                return Err(DocumentError::broken(format!("is named like {what}, but is {found}")));
            }
            Some(format) => return Ok(format),
            None => {}
        }
        if is_binary(bytes) {
            let message =
                "is not a document that can be read: it has binary data of an unknown format";
            return Err(DocumentError::new(DocumentErrorKind::Unsupported, message));
        }
        let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        let start = start[..start.len().min(15)].to_ascii_lowercase();
        let is_named = !extension.is_empty();
        if !is_named && (start.starts_with(b"<!doctype html") || start.starts_with(b"<html")) {
            return Ok(Self::Html);
        }
        Ok(Self::Text)
    }
}

/// Returns whether bytes are no text: they have a NUL and are not UTF-16 or UTF-32.
fn is_binary(bytes: &[u8]) -> bool {
    let probe = &bytes[..bytes.len().min(BINARY_PROBE_BYTES)];
    probe.contains(&0) && crate::plain_text::detect_wide_encoding(bytes).is_none()
}

fn find_pdf_header(bytes: &[u8]) -> bool {
    let probe = &bytes[..bytes.len().min(PDF_HEADER_WITHIN)];
    probe.windows(5).any(|window| window == b"%PDF-")
}

fn refuse_signature(what: &str) -> DocumentError {
    if what.ends_with("image") {
        let message = format!("is {what}; images are not read");
        return DocumentError::new(DocumentErrorKind::Image, message);
    }
    let advice = if what.contains("RTF") { "; save it as DOCX or PDF" } else { "" };
    let message = format!("is {what}, which is not read{advice}");
    DocumentError::new(DocumentErrorKind::Unsupported, message)
}

/// A new Office file with a password is in the container of the old formats.
fn describe_compound_file(by_name: Option<DocumentFormat>) -> DocumentError {
    match by_name {
        Some(DocumentFormat::Docx | DocumentFormat::Xlsx | DocumentFormat::Pptx) => {
            let message = "is an Office file with a password";
            DocumentError::new(DocumentErrorKind::PasswordProtected, message)
        }
        _ => {
            let message = "is an Office file of the old format, which is not read; save it as DOCX, XLSX or PPTX";
            DocumentError::new(DocumentErrorKind::Unsupported, message)
        }
    }
}

fn describe_bytes(bytes: &[u8]) -> &'static str {
    if bytes.is_empty() {
        "empty"
    } else if is_binary(bytes) {
        "other binary data"
    } else {
        "text"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, bytes: &[u8], expected: Result<DocumentFormat, &str>) {
        let found = DocumentFormat::detect(name, bytes);
        let found = found.as_ref().map(|format| *format).map_err(|error| error.message.as_str());
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn a_format_is_recognized_by_content_and_then_by_name() {
        check("a.pdf", b"%PDF-1.7", Ok(DocumentFormat::Pdf));
        check("scan", b"junk %PDF-1.4", Ok(DocumentFormat::Pdf));
        check("a.txt", b"%PDF-1.4", Ok(DocumentFormat::Pdf));
        check("a.html", b"<p>about %PDF-1.4", Ok(DocumentFormat::Html));
        check("a.DOCX", b"PK\x03\x04", Ok(DocumentFormat::Docx));
        check("a.xlsx", b"PK\x03\x04", Ok(DocumentFormat::Xlsx));
        check("a.csv", b"a;b\n", Ok(DocumentFormat::Text));
        check("page", b"\n<!DOCTYPE html><p>", Ok(DocumentFormat::Html));
        check("page.rs", b"<html>", Ok(DocumentFormat::Text));
        check("a.eml", b"From: a\n", Ok(DocumentFormat::Mail));
        check("a.txt", b"\xff\xfea\0b\0", Ok(DocumentFormat::Text));
        check("a.txt", b"a\0b\0c\0d\0", Ok(DocumentFormat::Text));
        check("", b"", Ok(DocumentFormat::Text));
    }

    #[test]
    fn what_is_not_read_says_what_it_is() {
        check("a.png", b"\x89PNG", Err("is a PNG image; images are not read"));
        check("a.pdf", b"\xff\xd8\xff\xe0", Err("is a JPEG image; images are not read"));
        check(
            "a.rtf",
            b"{\\rtf1",
            Err("is an RTF document, which is not read; save it as DOCX or PDF"),
        );
        check("a.pdf", b"hello", Err("is named like a PDF, but is text"));
        check("a.docx", b"", Err("is named like a Word document, but is empty"));
        check("a.docx", b"\xd0\xcf\x11\xe0", Err("is an Office file with a password"));
        check(
            "a.doc",
            b"\xd0\xcf\x11\xe0",
            Err(
                "is an Office file of the old format, which is not read; save it as DOCX, XLSX or PPTX",
            ),
        );
        check(
            "a.bin",
            b"\x01\0\0\x02\xff\0\0\0",
            Err("is not a document that can be read: it has binary data of an unknown format"),
        );
    }
}
