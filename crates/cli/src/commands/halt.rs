//! `countersign halt RUN`: pauses a run until it is resumed.

use countersign_run::InputKind;

use super::after_input;
use crate::args::HaltArgs;
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &HaltArgs, json: bool) -> Result<CliExit, CliError> {
    let reason = args.reason.clone();
    after_input::submit_and_report(&args.target, |by| InputKind::Halted { by, reason }, json)
        .map(|_| CliExit::Success)
}
