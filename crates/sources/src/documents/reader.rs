//! Who reads a PDF: a process of its own, or this one.

use std::panic::catch_unwind;
use std::path::Path;
use std::time::Duration;

use countersign_runtime::program::{Launch, ProgramError, launch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::pdf::{Pages, PdfFault, pages, read_answer};

/// How long one file may take.
const LIMIT: Duration = Duration::from_secs(15);

/// Where PDF files are read.
#[derive(Debug, Clone)]
pub enum PdfReader {
    /// In this process. A panic is caught and a slow file is left behind, but what eats all memory
    /// or the whole stack ends the process: for files that are trusted.
    Here,
    /// By a program that calls [`read_pdf_from_stdin`](crate::read_pdf_from_stdin): file and arguments.
    Program(Vec<String>),
}

impl PdfReader {
    /// The pages of a file.
    pub(super) async fn read(&self, bytes: Vec<u8>, folder: &Path) -> Result<Pages, PdfFault> {
        match self {
            Self::Here => {
                let reading = spawn_blocking(move || {
                    catch_unwind(|| pages(&bytes)).unwrap_or(Err(PdfFault::Broke))
                });
                match timeout(LIMIT, reading).await {
                    Ok(read) => read.unwrap_or(Err(PdfFault::Broke)),
                    Err(_) => Err(PdfFault::Slow),
                }
            }
            Self::Program(command) => {
                let order = Launch {
                    command,
                    args: &[],
                    folder,
                    inherits: &[],
                    variables: &[],
                    input: &bytes,
                    limit: LIMIT,
                };
                match launch(order).await {
                    Ok(finished) if finished.status.success() && !finished.stdout.truncated => {
                        read_answer(&finished.stdout.bytes)
                    }
                    Ok(_) => Err(PdfFault::Broke),
                    Err(ProgramError::TimedOut { .. }) => Err(PdfFault::Slow),
                    Err(_) => Err(PdfFault::Broke),
                }
            }
        }
    }
}
