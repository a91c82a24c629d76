//! `countersign answer RUN[/WAIT] VALUE`, or `--file FILE` to submit a document.

use std::path::Path;
use std::sync::Arc;

use countersign_contract::json::{RepairLevel, parse_json};
use countersign_run::{InputKind, RunWait, WaitAnswerShape, WaitKind};
use countersign_runtime::run_observer::NoopRunObserver;
use serde_json::Value;

use super::provide_document::provide_document;
use super::{after_input, wait_address};
use crate::args::AnswerArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &AnswerArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let kind = if args.file.is_some() { WaitKind::Document } else { WaitKind::Question };
        let (address, text) = split_arguments(&context, args).await?;
        let (run, id) = wait_address::resolve_wait(&context, address, &[kind]).await?;
        let key = args.idempotency_key.clone();
        let outcome = match (&args.file, text) {
            (Some(file), _) => {
                provide_document(&context, &run, &id, Path::new(file), key).await??
            }
            (None, Some(text)) => {
                let state = context.engine.get_run(&run).await?.state;
                let value = parse_answer(text, state.waits.get(&id));
                let what = InputKind::Answered { wait: id, value, by: context.settings.user() };
                context.submit_input(&run, what, key).await?
            }
            (None, None) => return Err(missing_answer()),
        };
        after_input::drive_and_report(&context, outcome, json).await
    })
}

/// Returns the wait and the answer that the arguments name. A single argument is the answer to the
/// only open question, unless it names a run.
async fn split_arguments<'a>(
    context: &CliContext,
    args: &'a AnswerArgs,
) -> Result<(Option<&'a str>, Option<&'a str>), CliError> {
    let (first, value) = (args.wait.as_deref(), args.value.as_deref());
    let Some(text) = first.filter(|_| value.is_none() && args.file.is_none()) else {
        return Ok((first, value));
    };
    let run = text.split_once('/').map_or(text, |(run, _)| run);
    // A mistyped run must not become the answer to another question.
    if wait_address::is_like_run_name(run) || context.resolve_run(Some(run)).await.is_ok() {
        return Err(missing_answer());
    }
    Ok((None, Some(text)))
}

fn missing_answer() -> CliError {
    CliError::Usage("provide an answer, or a document with `--file`".to_owned())
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
