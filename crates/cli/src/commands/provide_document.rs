//! Answers a wait with a file that the command line names.

use std::io::Cursor;
use std::path::Path;

use countersign_contract::json::sha256_hex;
use countersign_runtime::engine::{DocumentAnswer, DocumentAnswerError, InputOutcome};
use countersign_runtime::workspace::IncomingDocument;

use crate::context::CliContext;
use crate::exit::CliError;

/// Copies a file into the folder of the run, and answers the wait with it. A refused document leaves
/// no file. The outer error is a file that cannot be read.
pub(super) async fn provide_document(
    context: &CliContext,
    run: &str,
    wait: &str,
    file: &Path,
    key: Option<String>,
) -> Result<Result<InputOutcome, DocumentAnswerError>, CliError> {
    let shown = file.display().to_string();
    let bytes = std::fs::read(file)
        .map_err(|source| CliError::Unreadable { what: shown.clone(), source })?;
    let name = file.file_name().map_or(shown, |name| name.to_string_lossy().into_owned());
    let (length, sha256) = (bytes.len() as u64, sha256_hex(&[&bytes]));
    let answer = DocumentAnswer {
        run: run.to_owned(),
        wait: wait.to_owned(),
        by: context.settings.user(),
        sender: Some(context.settings.sender()),
        document: IncomingDocument { name, bytes: length, sha256, content: Cursor::new(bytes) },
        idempotency_key: key,
        expected_version: None,
    };
    Ok(context.engine.submit_document(answer).await)
}
