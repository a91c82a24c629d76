//! `countersign store …`: looking after the database itself.

mod copy;
mod every;
mod verify;
mod prune;

use crate::args::{Store, StoreCommand};
use crate::exit::{Error, Exit};

/// Runs the command that was asked for.
pub(super) fn run(args: &Store, json: bool) -> Result<Exit, Error> {
    match &args.command {
        StoreCommand::Copy(args) => copy::run(args, json),
        StoreCommand::Verify(args) => verify::run(args, json),
        StoreCommand::Prune(args) => prune::run(args, json),
    }
}
