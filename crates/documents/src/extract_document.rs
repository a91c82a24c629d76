//! Extracts the text of a document of any format.

use crate::limits::{MAX_ATTACHMENT_DEPTH, MAX_DOCUMENT_BYTES};
use crate::office_archive::{OfficeArchive, OfficeKind};
use crate::{
    DocumentError, DocumentErrorKind, DocumentFormat, DocumentText, docx, html, mail, pdf,
    plain_text, pptx, xlsx,
};

/// Extracts the text of a document. `name` is its file name, which helps where the bytes do not
/// tell the format.
///
/// # Errors
/// The file is an image, of a format that is not read, protected, damaged, or exceeds a limit.
pub fn extract_document(name: &str, bytes: &[u8]) -> Result<DocumentText, DocumentError> {
    extract_nested(name, bytes, 0)
}

/// Extracts a document that is attached at a depth; 0 is the file itself.
pub(crate) fn extract_nested(
    name: &str,
    bytes: &[u8],
    depth: usize,
) -> Result<DocumentText, DocumentError> {
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        let most = MAX_DOCUMENT_BYTES >> 20;
        return Err(DocumentError::too_large(format!("is larger than {most} MiB")));
    }
    if depth > MAX_ATTACHMENT_DEPTH {
        let message = format!("is attached more than {MAX_ATTACHMENT_DEPTH} levels deep");
        return Err(DocumentError::too_large(message));
    }
    match DocumentFormat::detect(name, bytes)? {
        DocumentFormat::Text => plain_text::extract_text(bytes),
        DocumentFormat::Html => html::extract_page(bytes),
        DocumentFormat::Mail => mail::extract_mail(bytes, depth),
        DocumentFormat::Pdf => pdf::extract_pages(bytes),
        DocumentFormat::Docx | DocumentFormat::Xlsx | DocumentFormat::Pptx => {
            let mut archive = OfficeArchive::open(bytes)?;
            match archive.find_main_part()? {
                Some((OfficeKind::Word, part)) => docx::extract_document(&mut archive, &part),
                Some((OfficeKind::Excel, part)) => xlsx::extract_workbook(&mut archive, &part),
                Some((OfficeKind::PowerPoint, part)) => {
                    pptx::extract_presentation(&mut archive, &part)
                }
                None => {
                    let message = "is a ZIP archive, which is not read; extract its files";
                    Err(DocumentError::new(DocumentErrorKind::Unsupported, message))
                }
            }
        }
    }
}
