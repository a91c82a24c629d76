//! `countersign approve` and `countersign deny`: answer an approval wait.

use std::sync::Arc;

use countersign_run::{InputKind, WaitKind};
use countersign_runtime::run_observer::NoopRunObserver;

use super::{after_input, wait_address};
use crate::args::DecideArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &DecideArgs, approve: bool, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let kinds = [WaitKind::Approval, WaitKind::Budget, WaitKind::Incident];
        let (run, wait) = wait_address::resolve_wait(&context, &args.wait, &kinds).await?;
        let (by, note) = (context.settings.user(), args.note.clone());
        let what = InputKind::ApprovalDecided { wait, approve, by, note };
        let outcome = context.engine.submit_input(&run, what, args.idempotency_key.clone()).await?;
        after_input::drive_and_report(&context, outcome, json).await
    })
}
