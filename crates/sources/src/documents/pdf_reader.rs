//! Where a PDF is parsed: in a separate process, or in this one.

use std::panic::catch_unwind;
use std::path::Path;
use std::time::Duration;

use countersign_runtime::program::{ProgramError, ProgramInvocation, launch_program};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::pdf::{PdfError, PdfPages, decode_pages, extract_pages};

/// Time limit for one file.
const PDF_TIMEOUT: Duration = Duration::from_secs(15);

/// How PDF files are read.
#[derive(Debug, Clone)]
pub enum PdfReader {
    /// In this process. A panic is caught and a slow file is abandoned, but a file that uses up all
    /// memory or the whole stack ends the process: only for trusted files.
    InProcess,
    /// By a program that calls [`read_pdf_from_stdin`](crate::read_pdf_from_stdin): its path and
    /// arguments.
    Program(Vec<String>),
}

impl PdfReader {
    /// Reads the pages of a file.
    pub(super) async fn read_pages(
        &self,
        bytes: Vec<u8>,
        folder: &Path,
    ) -> Result<PdfPages, PdfError> {
        match self {
            Self::InProcess => {
                let reading = spawn_blocking(move || {
                    catch_unwind(|| extract_pages(&bytes)).unwrap_or(Err(PdfError::ReaderCrashed))
                });
                match timeout(PDF_TIMEOUT, reading).await {
                    Ok(read) => read.unwrap_or(Err(PdfError::ReaderCrashed)),
                    Err(_) => Err(PdfError::TimedOut),
                }
            }
            Self::Program(command) => {
                let order = ProgramInvocation {
                    command,
                    args: &[],
                    working_folder: folder,
                    inherited_env: &[],
                    env: &[],
                    stdin: &bytes,
                    timeout: PDF_TIMEOUT,
                };
                match launch_program(order).await {
                    Ok(finished) if finished.status.success() && !finished.stdout.truncated => {
                        decode_pages(&finished.stdout.bytes)
                    }
                    Ok(_) => Err(PdfError::ReaderCrashed),
                    Err(ProgramError::TimedOut { .. }) => Err(PdfError::TimedOut),
                    Err(_) => Err(PdfError::ReaderCrashed),
                }
            }
        }
    }
}
