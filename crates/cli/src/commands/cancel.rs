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
        let house = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let run = house.resolve_run(Some(&args.run)).await?;
        let what = InputKind::Cancelled { by: house.settings.user(), reason: args.reason.clone() };
        let outcome = house.engine.submit_input(&run, what, None).await?;
        after_input::drive_and_report(&house, outcome, json).await.map(|_| CliExit::Success)
    })
}
