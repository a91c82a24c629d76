//! Where documents are parsed: in a process of their own, or in this one.

use std::panic::catch_unwind;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use countersign_contract::json::sha256_hex;
use countersign_documents::{
    DocumentError, DocumentErrorKind, DocumentFormat, decode_answer, encode_request,
    extract_document, limits,
};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::text_cache::{DocumentTextCache, ReadResult};
use crate::program::{ProgramError, ProgramInvocation, ProgramOutput, launch_program_with_limit};

/// Time limit for one file.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of the answer of the reading process: twice the text, because JSON escapes it.
const MAX_ANSWER_BYTES: usize = 2 * limits::MAX_TEXT_BYTES + 1024 * 1024;

/// What the standard library writes when memory is exhausted.
const OUT_OF_MEMORY: &str = "memory allocation of";

/// Reads the text of documents, and remembers the last ones. Cheap to clone; clones share what they
/// remember.
#[derive(Debug, Clone, Default)]
pub struct DocumentReader {
    /// The program that reads and its arguments; empty if this process reads.
    command: Arc<[String]>,
    cache: Arc<Mutex<DocumentTextCache>>,
}

impl DocumentReader {
    /// Reads documents in this process. A panic is caught, but a file that uses up all memory or
    /// the whole stack ends the process, and a slow file cannot be stopped: only for trusted files.
    ///
    /// This is the default of the library; the program `countersign` reads in another process.
    #[must_use]
    pub fn in_process() -> Self {
        Self::default()
    }

    /// Reads documents by a program that calls
    /// [`read_document_from_stdin`](countersign_documents::read_document_from_stdin): its path and
    /// its arguments. It is started for each file, with an empty environment, and killed after 30
    /// seconds.
    #[must_use]
    pub fn from_program(command: Vec<String>) -> Self {
        Self { command: command.into(), ..Self::default() }
    }

    /// Returns whether files are read in a process of their own.
    #[must_use]
    pub fn is_isolated(&self) -> bool {
        !self.command.is_empty()
    }

    /// Reads a document. `name` is its file name, without folders.
    ///
    /// # Errors
    /// The message continues the name of the file: "is a PDF with a password".
    pub async fn read(&self, name: &str, bytes: Vec<u8>) -> ReadResult {
        let key = describe_file(name, &bytes);
        if let Some(known) = self.cache().get(&key) {
            return known;
        }
        let result = if self.is_isolated() && needs_process(name, &bytes) {
            self.read_by_program(name, &bytes).await
        } else {
            let name = name.to_owned();
            let reading = spawn_blocking(move || read_here(&name, &bytes));
            match timeout(READ_TIMEOUT, reading).await {
                Ok(read) => read.unwrap_or_else(|_| Err(crash_error())),
                Err(_) => Err(timeout_error()),
            }
        };
        self.remember(key, result)
    }

    /// Reads a document on a thread that may block. Another process can be used only inside an async
    /// runtime.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn read_blocking(&self, name: &str, bytes: &[u8]) -> ReadResult {
        let key = describe_file(name, bytes);
        if let Some(known) = self.cache().get(&key) {
            return known;
        }
        let result = if self.is_isolated() && needs_process(name, bytes) {
            match Handle::try_current() {
                Ok(runtime) => runtime.block_on(self.read_by_program(name, bytes)),
                Err(_) => Err(unavailable_error("no async runtime is running")),
            }
        } else {
            read_here(name, bytes)
        };
        self.remember(key, result)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, DocumentTextCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a result, unless another attempt may give another one.
    fn remember(&self, key: String, result: ReadResult) -> ReadResult {
        let is_final = result.as_ref().err().is_none_or(|error| {
            !matches!(
                error.kind,
                DocumentErrorKind::TimedOut
                    | DocumentErrorKind::ReaderCrashed
                    | DocumentErrorKind::ReaderUnavailable
            )
        });
        if is_final {
            self.cache().insert(key, result.clone());
        }
        result
    }

    async fn read_by_program(&self, name: &str, bytes: &[u8]) -> ReadResult {
        let (request, folder) = (encode_request(name, bytes), std::env::temp_dir());
        let invocation = ProgramInvocation {
            command: &self.command,
            args: &[],
            working_folder: &folder,
            inherited_env: &[],
            env: &[],
            stdin: &request,
            timeout: READ_TIMEOUT,
        };
        match launch_program_with_limit(invocation, MAX_ANSWER_BYTES).await {
            Ok(finished) => decode_output(&finished).map(Arc::new),
            Err(ProgramError::TimedOut { .. }) => Err(timeout_error()),
            Err(error) => Err(unavailable_error(&error.to_string())),
        }
    }
}

/// Returns whether a file is parsed by something that it may crash. Text is only decoded.
fn needs_process(name: &str, bytes: &[u8]) -> bool {
    DocumentFormat::detect(name, bytes).is_ok_and(DocumentFormat::needs_process)
}

fn describe_file(name: &str, bytes: &[u8]) -> String {
    format!("{}/{name}", sha256_hex(&[bytes]))
}

fn read_here(name: &str, bytes: &[u8]) -> ReadResult {
    static WARNING: Once = Once::new();
    if needs_process(name, bytes) {
        WARNING.call_once(|| {
            tracing::warn!(
                "documents are parsed in this process, where a hostile file can do harm; \
                 `RuntimeBuilder::with_document_reader` sets a program that parses them"
            );
        });
    }
    if bytes.len() as u64 > limits::MAX_DOCUMENT_BYTES {
        return extract_document(name, bytes).map(Arc::new);
    }
    catch_unwind(|| extract_document(name, bytes))
        .unwrap_or_else(|_| Err(crash_error()))
        .map(Arc::new)
}

fn decode_output(
    finished: &ProgramOutput,
) -> Result<countersign_documents::DocumentText, DocumentError> {
    if finished.status.success() && !finished.stdout.truncated {
        return decode_answer(&finished.stdout.bytes);
    }
    if finished.stderr.to_text().contains(OUT_OF_MEMORY) {
        let most = limits::MEMORY_LIMIT_BYTES >> 20;
        let message = format!("needs more than {most} MiB of memory to be read");
        return Err(DocumentError::new(DocumentErrorKind::TooLarge, message));
    }
    if is_cpu_limit(finished.status) {
        let seconds = limits::CPU_LIMIT_SECONDS;
        let message = format!("needs more than {seconds} seconds of CPU time to be read");
        return Err(DocumentError::new(DocumentErrorKind::TimedOut, message));
    }
    Err(crash_error())
}

/// Returns whether a process was ended because its CPU time was over.
#[cfg(unix)]
fn is_cpu_limit(status: std::process::ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(rustix::process::Signal::XCPU.as_raw())
}

#[cfg(not(unix))]
fn is_cpu_limit(_status: std::process::ExitStatus) -> bool {
    false
}

fn timeout_error() -> DocumentError {
    let seconds = READ_TIMEOUT.as_secs();
    let message = format!("takes longer than {seconds} seconds to be read");
    DocumentError::new(DocumentErrorKind::TimedOut, message)
}

fn crash_error() -> DocumentError {
    let message = "crashed the reader; it is damaged or hostile";
    DocumentError::new(DocumentErrorKind::ReaderCrashed, message)
}

fn unavailable_error(why: &str) -> DocumentError {
    let message = format!("cannot be read now, because the reading process did not start: {why}");
    DocumentError::new(DocumentErrorKind::ReaderUnavailable, message)
}
