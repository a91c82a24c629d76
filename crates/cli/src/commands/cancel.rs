//! `countersign cancel RUN`: ends a run without completing it.

use countersign_run::InputKind;

use super::after_input;
use crate::args::CancelArgs;
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &CancelArgs, json: bool) -> Result<CliExit, CliError> {
    let reason = args.reason.clone();
    after_input::submit_and_report(&args.target, |by| InputKind::Cancelled { by, reason }, json)
        .map(|_| CliExit::Success)
}
