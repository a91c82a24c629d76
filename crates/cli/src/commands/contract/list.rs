//! `countersign contract list`

use std::path::Path;

use countersign_core::contract::Contract;
use serde_json::{Value, json};

use crate::exit::{Error, Exit};
use crate::{files, output, table};

pub(super) fn run(folder: Option<&Path>, json: bool) -> Result<Exit, Error> {
    let registry = files::registry(folder)?;
    let contracts: Vec<&Contract> = registry.iter().map(AsRef::as_ref).collect();
    if json {
        output::json(&contracts.iter().map(|contract| summary(contract)).collect());
    } else {
        output::data(&table(&contracts));
    }
    Ok(Exit::Good)
}

/// A contract in one line, for programs.
pub(super) fn summary(contract: &Contract) -> Value {
    json!({
        "id": contract.id,
        "version": contract.version,
        "title": contract.title,
        "intake": contract.intake.as_str(),
        "repairs": contract.repairs.as_str(),
        "rules": contract.rules.len(),
        "compatibility": contract.compatibility.as_str(),
        "migration_notes": contract.migration_notes,
        "digest": contract.digest,
    })
}

fn table(contracts: &[&Contract]) -> String {
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
    table::table(["CONTRACT", "VERSION", "INTAKE", "RULES", "DIGEST", "WHAT IT IS"], &rows)
}
