//! Extracts the text of a PDF file, page by page, with a limit on everything that could grow.
//!
//! A PDF file is untrusted and behaves much like a program. `read_pdf_from_stdin` is meant for a
//! process of its own, where running out of memory or stack ends only that process.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use lopdf::{Document, LoadOptions};
use serde_json::{Value, json};

/// Maximum size of a file.
pub(super) const MAX_PDF_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum decompressed size of one stream in the file.
const MAX_STREAM_BYTES: usize = 8 * 1024 * 1024;

const MAX_PAGES: usize = 2_000;

/// Maximum size of a file's text, as JSON. The output of a launched program is limited to 1 MiB.
const MAX_PDF_TEXT_BYTES: usize = 900 * 1024;

/// Limits of the reading process: memory in bytes, and CPU time in seconds.
#[cfg(unix)]
const MEMORY_LIMIT_BYTES: u64 = 512 * 1024 * 1024;
#[cfg(unix)]
const CPU_LIMIT_SECONDS: u64 = 20;

/// The text of a file's pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PdfPages {
    pub(super) texts: Vec<String>,
    /// Whether there were more pages.
    pub(super) truncated: bool,
}

/// Why a file has no pages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PdfError {
    #[error("is a PDF with a password")]
    PasswordProtected,
    #[error("is not a readable PDF")]
    Unreadable,
    #[error("is a PDF that unpacks to more than the limits allow")]
    TooLarge,
    #[error("is a PDF without text; images are not read")]
    NoText,
    #[error("is a PDF that took too long to read")]
    TimedOut,
    #[error("is a PDF that crashed the reader")]
    ReaderCrashed,
}

/// Extracts the pages of a PDF file.
pub(super) fn extract_pages(bytes: &[u8]) -> Result<PdfPages, PdfError> {
    let options = LoadOptions::with_max_decompressed_size(MAX_STREAM_BYTES);
    let document =
        Document::load_mem_with_options(bytes, options).map_err(|error| classify_error(&error))?;
    if document.is_encrypted() {
        return Err(PdfError::PasswordProtected);
    }
    let numbers: Vec<u32> =
        document.page_iter().take(MAX_PAGES + 1).zip(1..).map(|(_, number)| number).collect();
    if numbers.is_empty() {
        return Err(PdfError::Unreadable);
    }
    let mut pages = PdfPages { texts: Vec::new(), truncated: numbers.len() > MAX_PAGES };
    let mut weight = 0;
    for number in numbers.into_iter().take(MAX_PAGES) {
        let text = match document.extract_text_with_limit(&[number], MAX_STREAM_BYTES) {
            Ok(text) => clean_text(&text),
            Err(error) => match classify_error(&error) {
                PdfError::TooLarge => return Err(PdfError::TooLarge),
                // A page in an unreadable font does not affect the others.
                _ => String::new(),
            },
        };
        weight += json!(text).to_string().len() + 1;
        if weight > MAX_PDF_TEXT_BYTES {
            pages.truncated = true;
            break;
        }
        pages.texts.push(text);
    }
    if pages.texts.iter().all(String::is_empty) { Err(PdfError::NoText) } else { Ok(pages) }
}

/// Reads a PDF from standard input and writes its pages to standard output, for
/// `PdfReader::Program`.
///
/// The process limits its own memory and time first, so it should do nothing else afterwards.
#[must_use]
pub fn read_pdf_from_stdin() -> ExitCode {
    limit_this_process();
    let mut bytes = Vec::new();
    if std::io::stdin().take(MAX_PDF_BYTES).read_to_end(&mut bytes).is_err() {
        return ExitCode::FAILURE;
    }
    let answer = encode_pages(&extract_pages(&bytes));
    match std::io::stdout().write_all(answer.to_string().as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Encodes pages or an error for the other process.
fn encode_pages(pages: &Result<PdfPages, PdfError>) -> Value {
    match pages {
        Ok(PdfPages { texts, truncated: cut }) => json!({ "pages": texts, "truncated": cut }),
        Err(PdfError::PasswordProtected) => json!({ "error": "locked" }),
        Err(PdfError::TooLarge) => json!({ "error": "bomb" }),
        Err(PdfError::NoText) => json!({ "error": "no_text" }),
        Err(_) => json!({ "error": "broken" }),
    }
}

/// Decodes the pages or the error from the other process.
pub(super) fn decode_pages(bytes: &[u8]) -> Result<PdfPages, PdfError> {
    let answer: Value = serde_json::from_slice(bytes).map_err(|_| PdfError::ReaderCrashed)?;
    if let Some(texts) = answer["pages"].as_array() {
        let texts = texts.iter().map(|text| text.as_str().map(str::to_owned));
        let texts = texts.collect::<Option<_>>().ok_or(PdfError::ReaderCrashed)?;
        return Ok(PdfPages { texts, truncated: answer["truncated"] == true });
    }
    Err(match answer["error"].as_str() {
        Some("locked") => PdfError::PasswordProtected,
        Some("bomb") => PdfError::TooLarge,
        Some("no_text") => PdfError::NoText,
        Some("broken") => PdfError::Unreadable,
        _ => PdfError::ReaderCrashed,
    })
}

#[cfg(unix)]
fn limit_this_process() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    for (resource, most) in [
        (Resource::As, MEMORY_LIMIT_BYTES),
        (Resource::Cpu, CPU_LIMIT_SECONDS),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ] {
        // If the system does not support such a limit, the limits of `extract_pages` still apply.
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

#[cfg(not(unix))]
fn limit_this_process() {}

fn classify_error(error: &lopdf::Error) -> PdfError {
    use lopdf::{DecompressError, Error};
    match error {
        Error::Decompress(DecompressError::MemoryLimitExceeded { .. }) => PdfError::TooLarge,
        Error::Decryption(_) | Error::InvalidPassword => PdfError::PasswordProtected,
        _ => PdfError::Unreadable,
    }
}

/// Removes trailing blanks from lines, and invisible characters.
fn clean_text(text: &str) -> String {
    let seen = |letter: &char| *letter == '\n' || *letter == '\t' || !letter.is_control();
    let text: String = text.chars().filter(seen).collect();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_processes_tell_each_other_comes_back() {
        let round_trip = |pages: Result<PdfPages, PdfError>| {
            decode_pages(encode_pages(&pages).to_string().as_bytes())
        };
        let some = PdfPages { texts: vec!["a\n\"б\"".to_owned(), String::new()], truncated: true };
        assert_eq!(round_trip(Ok(some.clone())), Ok(some));
        for fault in [
            PdfError::PasswordProtected,
            PdfError::TooLarge,
            PdfError::NoText,
            PdfError::Unreadable,
        ] {
            assert_eq!(round_trip(Err(fault.clone())), Err(fault));
        }
        assert_eq!(decode_pages(b"{\"pages\":[1]}"), Err(PdfError::ReaderCrashed));
        assert_eq!(decode_pages(b""), Err(PdfError::ReaderCrashed));
    }

    #[test]
    fn what_is_no_pdf_says_so() {
        for bytes in [&b""[..], b"%PDF-1.7", b"hello", &[0; 4_000]] {
            assert_eq!(extract_pages(bytes), Err(PdfError::Unreadable));
        }
    }
}
