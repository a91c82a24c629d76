//! `countersign approve` and `countersign deny`: answer an approval wait.

use std::sync::Arc;

use countersign_run::{InputKind, InputRejection, WaitKind};
use countersign_runtime::engine::EngineError;
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_view::show::wait_text;

use super::{after_input, wait_address};
use crate::args::DecideArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;

pub(super) fn run(args: &DecideArgs, approve: bool, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let kinds = [WaitKind::Approval, WaitKind::Budget, WaitKind::Incident];
        let (run, wait) =
            wait_address::resolve_wait(&context, args.wait.as_deref(), &kinds).await?;
        let names_wait = args.wait.as_deref().is_some_and(|named| named.contains('/'));
        let (by, note) = (context.settings.user(), args.note.clone());
        let state = context.engine.get_run(&run).await?.state;
        let what = match state.waits.get(&wait) {
            Some(seen) => {
                // Whoever names only the run may have looked at the wait that this one replaces.
                if let (Some(old), false, None) =
                    (seen.supersedes.last(), names_wait, &args.subject)
                {
                    let rejection = EngineError::Rejected(seen.reject_old_subject(old));
                    return Err(explain_refusal(rejection, json));
                }
                if !json && let Some(subject) = wait_text::describe_subject(seen) {
                    let verb = if approve { "Approving" } else { "Denying" };
                    output::print_message(&format!("{verb} {run}/{wait}:\n{subject}"));
                    if let Some(preview) = context.engine.preview_wait(&run, seen).await {
                        output::print_message(&preview);
                    }
                }
                seen.decide(approve, &by, note)
            }
            None => InputKind::ApprovalDecided { wait, approve, by, note, subject: None },
        };
        let what = args.subject.clone().map_or(what.clone(), |named| what.with_subject(named));
        let outcome = context
            .submit_input(&run, what, args.idempotency_key.clone())
            .await
            .map_err(|error| explain_refusal(error, json))?;
        let exit = after_input::drive_and_report(&context, outcome, json).await?;
        // A denial that was recorded is a success, also if it ends the run.
        Ok(if approve { exit } else { CliExit::Success })
    })
}

/// Shows what helps after a refused decision: what changed, or how to give a reason.
fn explain_refusal(error: EngineError, json: bool) -> CliError {
    if json {
        return error.into();
    }
    match &error {
        EngineError::Rejected(InputRejection::SubjectChanged {
            changes: Some(changes), ..
        }) if !changes.ops.is_empty() => {
            let difference = wait_text::describe_changes(changes).replace('\n', "\n  ");
            output::print_message(&format!("What changed:\n  {difference}"));
        }
        EngineError::Rejected(InputRejection::NoteRequired { .. }) => {
            output::print_message("Give the reason with `--note TEXT`.");
        }
        _ => {}
    }
    error.into()
}
