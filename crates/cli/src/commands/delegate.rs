//! `countersign delegate`: lets another person decide an approval.

use std::sync::Arc;

use countersign_run::{InputKind, WaitKind};
use countersign_runtime::run_observer::NoopRunObserver;

use super::{after_input, wait_address};
use crate::args::DelegateArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &DelegateArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let kinds = [WaitKind::Approval];
        let (run, wait) = wait_address::resolve_wait(&context, Some(&args.wait), &kinds).await?;
        let (by, to, note) = (context.settings.user(), args.to.clone(), args.note.clone());
        let what = InputKind::Delegated { wait, to, by, note };
        let outcome = context.submit_input(&run, what, None).await?;
        after_input::drive_and_report(&context, outcome, json).await
    })
}
