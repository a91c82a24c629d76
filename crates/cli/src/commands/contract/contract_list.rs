//! `countersign contract list`: lists the available contracts.

use std::path::Path;

use countersign_contract::contract::Contract;
use countersign_view::wire::ContractRow;
use serde_json::json;

use crate::exit::{CliError, CliExit};
use crate::{files, output, table};

pub(super) fn run(folder: Option<&Path>, json: bool) -> Result<CliExit, CliError> {
    let registry = files::load_registry(folder)?;
    let contracts: Vec<&Contract> = registry.iter().map(AsRef::as_ref).collect();
    if json {
        let rows = contracts.iter().map(|contract| ContractRow::from(*contract));
        output::print_json(&json!(rows.collect::<Vec<_>>()));
    } else {
        output::print_data(&render_contracts(&contracts));
    }
    Ok(CliExit::Success)
}

fn render_contracts(contracts: &[&Contract]) -> String {
    let rows: Vec<[String; 6]> = contracts
        .iter()
        .map(|contract| {
            [
                contract.id.clone(),
                contract.version.clone(),
                contract.intake.as_str().to_owned(),
                contract.rules.len().to_string(),
                contract.digest.trim_start_matches("sha256:")[..12].to_owned(),
                contract.title.clone(),
            ]
        })
        .collect();
    table::render_table(["CONTRACT", "VERSION", "INTAKE", "RULES", "DIGEST", "DESCRIPTION"], &rows)
}
