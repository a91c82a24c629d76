//! The text of a PDF file, page by page, with a limit on everything that could grow.
//!
//! A PDF is a program of sorts, written by strangers. `read_pdf_from_stdin` is meant for a process
//! of its own, where running out of memory or stack ends that process and nothing else.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use lopdf::{Document, LoadOptions};
use serde_json::{Value, json};

/// How large a file may be.
pub(super) const LARGEST_FILE: u64 = 16 * 1024 * 1024;

/// What one stream of the file may unpack to.
const LARGEST_STREAM: usize = 8 * 1024 * 1024;

const MOST_PAGES: usize = 2_000;

/// How much text is kept of a file, as JSON. A launched program's output is kept up to 1 MiB.
const MOST_TEXT: usize = 900 * 1024;

/// How much memory the reading process may have, and how many seconds of work.
#[cfg(unix)]
const MEMORY: u64 = 512 * 1024 * 1024;
#[cfg(unix)]
const SECONDS: u64 = 20;

/// The pages of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pages {
    pub(super) texts: Vec<String>,
    /// Whether there were more.
    pub(super) cut: bool,
}

/// Why there are no pages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PdfFault {
    #[error("is a PDF with a password")]
    Locked,
    #[error("is no PDF that can be read")]
    Broken,
    #[error("is a PDF that unpacks to more than the limits allow")]
    Bomb,
    #[error("is a PDF without text; pictures of text are not read")]
    NoText,
    #[error("is a PDF that took too long to read")]
    Slow,
    #[error("is a PDF that its reader broke down over")]
    Broke,
}

/// Reads the pages of a PDF file.
pub(super) fn pages(bytes: &[u8]) -> Result<Pages, PdfFault> {
    let options = LoadOptions::with_max_decompressed_size(LARGEST_STREAM);
    let document =
        Document::load_mem_with_options(bytes, options).map_err(|error| fault(&error))?;
    if document.is_encrypted() {
        return Err(PdfFault::Locked);
    }
    let numbers: Vec<u32> =
        document.page_iter().take(MOST_PAGES + 1).zip(1..).map(|(_, number)| number).collect();
    if numbers.is_empty() {
        return Err(PdfFault::Broken);
    }
    let mut pages = Pages { texts: Vec::new(), cut: numbers.len() > MOST_PAGES };
    let mut weight = 0;
    for number in numbers.into_iter().take(MOST_PAGES) {
        let text = match document.extract_text_with_limit(&[number], LARGEST_STREAM) {
            Ok(text) => tidy(&text),
            Err(error) => match fault(&error) {
                PdfFault::Bomb => return Err(PdfFault::Bomb),
                // A page in a font that nobody can read does not spoil the others.
                _ => String::new(),
            },
        };
        weight += json!(text).to_string().len() + 1;
        if weight > MOST_TEXT {
            pages.cut = true;
            break;
        }
        pages.texts.push(text);
    }
    if pages.texts.iter().all(String::is_empty) { Err(PdfFault::NoText) } else { Ok(pages) }
}

/// Reads a PDF from standard input and writes its pages to standard output, for `PdfReader::Program`.
///
/// The process limits its own memory and time first, so it should do nothing else afterwards.
#[must_use]
pub fn read_pdf_from_stdin() -> ExitCode {
    limit_this_process();
    let mut bytes = Vec::new();
    if std::io::stdin().take(LARGEST_FILE).read_to_end(&mut bytes).is_err() {
        return ExitCode::FAILURE;
    }
    let answer = answer(&pages(&bytes));
    match std::io::stdout().write_all(answer.to_string().as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Pages or fault, as the two processes tell each other.
fn answer(pages: &Result<Pages, PdfFault>) -> Value {
    match pages {
        Ok(Pages { texts, cut }) => json!({ "pages": texts, "cut": cut }),
        Err(PdfFault::Locked) => json!({ "fault": "locked" }),
        Err(PdfFault::Bomb) => json!({ "fault": "bomb" }),
        Err(PdfFault::NoText) => json!({ "fault": "no_text" }),
        Err(_) => json!({ "fault": "broken" }),
    }
}

/// What the other process said.
pub(super) fn read_answer(bytes: &[u8]) -> Result<Pages, PdfFault> {
    let answer: Value = serde_json::from_slice(bytes).map_err(|_| PdfFault::Broke)?;
    if let Some(texts) = answer["pages"].as_array() {
        let texts = texts.iter().map(|text| text.as_str().map(str::to_owned));
        let texts = texts.collect::<Option<_>>().ok_or(PdfFault::Broke)?;
        return Ok(Pages { texts, cut: answer["cut"] == true });
    }
    Err(match answer["fault"].as_str() {
        Some("locked") => PdfFault::Locked,
        Some("bomb") => PdfFault::Bomb,
        Some("no_text") => PdfFault::NoText,
        Some("broken") => PdfFault::Broken,
        _ => PdfFault::Broke,
    })
}

#[cfg(unix)]
fn limit_this_process() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    for (resource, most) in [
        (Resource::As, MEMORY),
        (Resource::Cpu, SECONDS),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ] {
        // Where the system knows no such limit, the limits of `pages` are what there is.
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

#[cfg(not(unix))]
fn limit_this_process() {}

fn fault(error: &lopdf::Error) -> PdfFault {
    use lopdf::{DecompressError, Error};
    match error {
        Error::Decompress(DecompressError::MemoryLimitExceeded { .. }) => PdfFault::Bomb,
        Error::Decryption(_) | Error::InvalidPassword => PdfFault::Locked,
        _ => PdfFault::Broken,
    }
}

/// Lines without blanks at their ends, and without letters that nobody can see.
fn tidy(text: &str) -> String {
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
        let told =
            |pages: Result<Pages, PdfFault>| read_answer(answer(&pages).to_string().as_bytes());
        let some = Pages { texts: vec!["a\n\"б\"".to_owned(), String::new()], cut: true };
        assert_eq!(told(Ok(some.clone())), Ok(some));
        for fault in [PdfFault::Locked, PdfFault::Bomb, PdfFault::NoText, PdfFault::Broken] {
            assert_eq!(told(Err(fault.clone())), Err(fault));
        }
        assert_eq!(read_answer(b"{\"pages\":[1]}"), Err(PdfFault::Broke));
        assert_eq!(read_answer(b""), Err(PdfFault::Broke));
    }

    #[test]
    fn what_is_no_pdf_says_so() {
        for bytes in [&b""[..], b"%PDF-1.7", b"hello", &[0; 4_000]] {
            assert_eq!(pages(bytes), Err(PdfFault::Broken));
        }
    }
}
