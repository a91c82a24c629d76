//! Reading in a process of its own: what the processes say to each other, and the limits that the
//! reading process sets itself.
//!
//! The request is the name of the file on a line, as JSON, and then its bytes. The answer is JSON.

use std::io::{Read as _, Write as _};
use std::panic::catch_unwind;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::limits::MAX_DOCUMENT_BYTES;
use crate::{DocumentError, DocumentErrorKind, DocumentText, extract_document};

/// Maximum length of a file name in a request, in bytes.
const MAX_NAME_BYTES: u64 = 4_096;

/// Encodes the request to read a document.
#[must_use]
pub fn encode_request(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut request = json!(name).to_string().into_bytes();
    request.push(b'\n');
    request.extend_from_slice(bytes);
    request
}

/// Reads a request from standard input and writes the answer to standard output.
///
/// The process limits its own memory and CPU time first, so it should do nothing else afterwards.
#[must_use]
pub fn read_document_from_stdin() -> ExitCode {
    limit_this_process();
    let mut request = Vec::new();
    let most = MAX_DOCUMENT_BYTES + MAX_NAME_BYTES;
    if std::io::stdin().take(most).read_to_end(&mut request).is_err() {
        return ExitCode::FAILURE;
    }
    let Some(end) = request.iter().position(|byte| *byte == b'\n') else {
        return ExitCode::FAILURE;
    };
    let Ok(Value::String(name)) = serde_json::from_slice(&request[..end]) else {
        return ExitCode::FAILURE;
    };
    let bytes = request.split_off(end + 1);
    drop(request);
    let read = catch_unwind(|| extract_document(&name, &bytes));
    let read = read.unwrap_or_else(|_| Err(crash_error()));
    match std::io::stdout().write_all(encode_answer(&read).to_string().as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn encode_answer(read: &Result<DocumentText, DocumentError>) -> Value {
    match read {
        Ok(document) => document.to_json(),
        Err(DocumentError { kind, message }) => {
            json!({ "error": kind.as_str(), "message": message })
        }
    }
}

/// Decodes the answer of the reading process.
///
/// # Errors
/// The error of the document, or that the process has written something else.
pub fn decode_answer(bytes: &[u8]) -> Result<DocumentText, DocumentError> {
    let answer: Value = serde_json::from_slice(bytes).map_err(|_| crash_error())?;
    if let (Some(kind), Some(message)) = (answer["error"].as_str(), answer["message"].as_str()) {
        let kind = DocumentErrorKind::parse(kind).ok_or_else(crash_error)?;
        return Err(DocumentError::new(kind, message));
    }
    DocumentText::from_json(answer).ok_or_else(crash_error)
}

fn crash_error() -> DocumentError {
    DocumentError::new(
        DocumentErrorKind::ReaderCrashed,
        "crashed the reader; it is damaged or hostile",
    )
}

#[cfg(unix)]
fn limit_this_process() {
    use rustix::process::{Resource, Rlimit, setrlimit};

    use crate::limits::{CPU_LIMIT_SECONDS, MEMORY_LIMIT_BYTES};
    for (resource, current, maximum) in [
        (Resource::As, MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES),
        // At the first of these limits, the signal says which limit it was.
        (Resource::Cpu, CPU_LIMIT_SECONDS, CPU_LIMIT_SECONDS + 1),
        (Resource::Core, 0, 0),
        (Resource::Fsize, 0, 0),
    ] {
        // If the system does not support such a limit, the limits of the extractors still apply.
        let _ = setrlimit(resource, Rlimit { current: Some(current), maximum: Some(maximum) });
    }
}

#[cfg(not(unix))]
fn limit_this_process() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_comes_back() {
        for read in [
            extract_document("a.csv", "a;б\n".as_bytes()),
            extract_document("a.png", b"\x89PNG"),
            extract_document("a.pdf", b"x"),
        ] {
            assert_eq!(decode_answer(encode_answer(&read).to_string().as_bytes()), read);
        }
        for bytes in [&b""[..], b"{}", b"{\"error\":\"x\",\"message\":\"y\"}"] {
            let error = decode_answer(bytes).expect_err("no answer");
            assert_eq!(error.kind, DocumentErrorKind::ReaderCrashed);
        }
    }
}
