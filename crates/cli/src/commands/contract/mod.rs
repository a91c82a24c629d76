//! `countersign contract …`: one file a subcommand.

mod check;
mod diff;
mod export;
mod list;
mod page;

use crate::args::{Contract, ContractCommand};
use crate::exit::{Error, Exit};

pub(super) fn run(args: &Contract, json: bool) -> Result<Exit, Error> {
    let folder = args.contracts.as_deref();
    match &args.command {
        ContractCommand::List => list::run(folder, json),
        ContractCommand::Show { id, schema } => page::run(folder, id, *schema, json),
        ContractCommand::Check { names, strict } => check::run(folder, names, *strict, json),
        ContractCommand::Diff { old, new, examples } => {
            diff::run(folder, [old, new], examples.as_deref(), json)
        }
        ContractCommand::Export { id, target } => export::run(folder, id, *target, json),
    }
}
