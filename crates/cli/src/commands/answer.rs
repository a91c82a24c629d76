//! `countersign answer RUN[/WAIT] VALUE`, or `--file FILE` to submit a document.

use std::path::Path;
use std::sync::Arc;

use countersign_contract::json::{RepairLevel, parse_json};
use countersign_run::{InputKind, RunWait, WaitAnswerShape, WaitKind};
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_runtime::workspace::{IncomingDocument, save_document};
use serde_json::Value;

use super::{after_input, wait_address};
use crate::args::AnswerArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &AnswerArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let kind = if args.file.is_some() { WaitKind::Document } else { WaitKind::Question };
        let (run, id) = wait_address::resolve_wait(&context, &args.wait, &[kind]).await?;
        let state = context.engine.get_run(&run).await?.state;
        let wait = state.waits.get(&id);
        let value = match (&args.file, &args.value) {
            (Some(file), _) => import_document(&context, file, wait)?,
            (None, Some(text)) => parse_answer(text, wait),
            (None, None) => {
                return Err(CliError::Usage(
                    "provide an answer, or a document with `--file`".to_owned(),
                ));
            }
        };
        let what = InputKind::Answered { wait: id, value, by: context.settings.user() };
        let outcome = context.submit_input(&run, what, args.idempotency_key.clone()).await?;
        after_input::drive_and_report(&context, outcome, json).await
    })
}

/// Parses the text of an answer: as JSON if the question expects more than a string.
pub(crate) fn parse_answer(text: &str, wait: Option<&RunWait>) -> Value {
    let plain = || Value::String(text.to_owned());
    let Some(WaitAnswerShape::Value { schema }) = wait.and_then(|wait| wait.answer_shape.as_ref())
    else {
        return plain();
    };
    if schema["type"] == "string" {
        return plain();
    }
    parse_json(text, RepairLevel::None).map_or_else(|_| plain(), |reading| reading.value)
}

/// Copies a document to its requested path in the workspace and returns its description.
pub(crate) fn import_document(
    context: &CliContext,
    file: &Path,
    wait: Option<&RunWait>,
) -> Result<Value, CliError> {
    let shown = file.display().to_string();
    let bytes = std::fs::read(file)
        .map_err(|source| CliError::Unreadable { what: shown.clone(), source })?;
    let name =
        file.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    let workspace = countersign_runtime::workspace::Workspace::open(context.home.workspace())?;
    Ok(save_document(&workspace, wait, IncomingDocument::from_bytes(&name, &bytes))?)
}
