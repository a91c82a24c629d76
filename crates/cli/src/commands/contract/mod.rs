//! `countersign contract …`: one file per subcommand.

mod contract_check;
mod contract_diff;
mod contract_export;
mod contract_list;
mod contract_register;
mod contract_show;

use crate::args::{ContractArgs, ContractCommand};
use crate::exit::{CliError, CliExit};

pub(super) fn run(args: &ContractArgs, json: bool) -> Result<CliExit, CliError> {
    let folder = args.contracts.as_deref();
    match &args.command {
        ContractCommand::List => contract_list::run(folder, json),
        ContractCommand::Show { id, schema } => contract_show::run(folder, id, *schema, json),
        ContractCommand::Check { names, strict } => {
            contract_check::run(folder, names, *strict, json)
        }
        ContractCommand::Diff { old, new, examples } => {
            contract_diff::run(folder, [old, new], examples.as_deref(), json)
        }
        ContractCommand::Register { files, dry_run } => {
            contract_register::run(files, *dry_run, json)
        }
        ContractCommand::Export { id, target } => contract_export::run(folder, id, *target, json),
    }
}
