//! `countersign store …`: maintains the database.

mod copy;
mod run_pages;
mod store_verify;
mod prune;

use crate::args::{StoreCommand, StoreCommandArgs};
use crate::exit::{CliError, CliExit};

/// Runs the selected subcommand.
pub(super) fn run(args: &StoreCommandArgs, json: bool) -> Result<CliExit, CliError> {
    match &args.command {
        StoreCommand::Copy(args) => copy::run(args, json),
        StoreCommand::Verify(args) => store_verify::run(args, json),
        StoreCommand::Prune(args) => prune::run(args, json),
    }
}
