//! `countersign cancel RUN`: ends a run without completing it.

use std::sync::Arc;

use countersign_run::InputKind;
use countersign_runtime::run_observer::NoopRunObserver;

use super::after_input;
use crate::args::CancelArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &CancelArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let run = context.resolve_run(Some(&args.run)).await?;
        let what =
            InputKind::Cancelled { by: context.settings.user(), reason: args.reason.clone() };
        let outcome = context.engine.submit_input(&run, what, None).await?;
        after_input::drive_and_report(&context, outcome, json).await.map(|_| CliExit::Success)
    })
}
