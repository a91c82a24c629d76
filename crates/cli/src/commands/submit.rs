//! `countersign submit RUN [FILE]`: submits a reply in the model's place, or a patch.

use std::sync::Arc;

use countersign_run::{InputKind, PendingAction};
use countersign_runtime::driver::build_manual_reply;
use countersign_runtime::run_observer::NoopRunObserver;

use super::after_input;
use crate::args::SubmitArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::files;

pub(super) fn run(args: &SubmitArgs, json: bool) -> Result<CliExit, CliError> {
    let (_, bytes) = files::read_reply(args.file.as_deref())?;
    // Invalid UTF-8 is treated like any other reply: the run refuses it and records that.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let run = context.resolve_run(Some(&args.run)).await?;
        let by = context.settings.user();
        let state = context.engine.get_run(&run).await?.state;
        let out =
            state.pending.iter().find(|(_, order)| matches!(order, PendingAction::Model { .. }));
        let action = args.action.clone().or_else(|| out.map(|(id, _)| id.clone()));
        let what = match action {
            Some(action) => build_manual_reply(&action, &text, &by),
            None => InputKind::ManualPatch { text, by },
        };
        let outcome = context.submit_input(&run, what, args.idempotency_key.clone()).await?;
        after_input::drive_and_report(&context, outcome, json).await
    })
}
