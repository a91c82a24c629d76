//! One file a command.

mod admit;
mod completions;
mod contract;

use crate::args::{Args, Command};
use crate::exit::{Error, Exit};

/// Runs the command that was asked for.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::Admit(args) => admit::run(args),
        Command::Contract(args) => contract::run(args),
        Command::Completions { shell } => Ok(completions::run(*shell)),
    }
}
