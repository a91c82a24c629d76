//! `countersign contract …`: one file a subcommand.

mod diff;
mod export;
mod list;
mod page;

use crate::args::{Contract, ContractCommand};
use crate::exit::{Error, Exit};

pub(super) fn run(args: &Contract) -> Result<Exit, Error> {
    let folder = args.contracts.as_deref();
    match &args.command {
        ContractCommand::List { json } => list::run(folder, *json),
        ContractCommand::Show { id, schema, json } => page::run(folder, id, *schema, *json),
        ContractCommand::Diff { old, new, examples, json } => {
            diff::run(folder, [old, new], examples.as_deref(), *json)
        }
        ContractCommand::Export { id, target, json } => export::run(folder, id, *target, *json),
    }
}
