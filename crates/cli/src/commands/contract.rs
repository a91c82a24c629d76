//! `countersign contract list | show | diff | export`

use countersign_core::contract::{Contract, Rule};
use serde_json::{Value, json};

use crate::args::{self, ContractCommand};
use crate::exit::{Error, Exit};
use crate::show::HEADING;
use crate::{files, output};

pub(super) fn run(args: &args::Contract) -> Result<Exit, Error> {
    let folder = args.contracts.as_deref();
    match &args.command {
        ContractCommand::List { json } => {
            let registry = files::registry(folder)?;
            let contracts: Vec<&Contract> = registry.iter().map(AsRef::as_ref).collect();
            if *json {
                let all = contracts.iter().map(|contract| summary(contract)).collect();
                output::json(&Value::Array(all));
            } else {
                output::data(&table(&contracts));
            }
        }
        ContractCommand::Show { id, schema, json } => {
            let contract = files::contract(id, folder)?;
            if *schema {
                output::json(contract.schema.source());
            } else if *json {
                output::json(&whole(&contract));
            } else {
                output::data(&page(&contract));
            }
        }
        ContractCommand::Diff { .. } | ContractCommand::Export { .. } => unreachable!(),
    }
    Ok(Exit::Good)
}

fn summary(contract: &Contract) -> Value {
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

fn whole(contract: &Contract) -> Value {
    let mut all = summary(contract);
    all["description"] = contract.description.as_str().into();
    all["on_violation"] = json!({
        "reask": contract.on_violation.reask,
        "then": contract.on_violation.then.as_str(),
    });
    all["rules"] = contract.rules.iter().map(rule_json).collect();
    all["schema"] = contract.schema.source().clone();
    all
}

fn rule_json(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "each": rule.each.as_ref().map(ToString::to_string),
        "when": rule.when.as_ref().map(|when| when.source()),
        "then": rule.then.source(),
        "at": rule.at,
        "says": rule.says,
    })
}

fn table(contracts: &[&Contract]) -> String {
    let header = ["CONTRACT", "VERSION", "INTAKE", "RULES", "DIGEST", "WHAT IT IS"];
    let mut rows = vec![header.map(str::to_owned)];
    rows.extend(contracts.iter().map(|contract| {
        [
            contract.id.clone(),
            contract.version.clone(),
            contract.intake.as_str().to_owned(),
            contract.rules.len().to_string(),
            contract.digest.trim_start_matches("sha256:")[..12].to_owned(),
            contract.title.clone(),
        ]
    }));
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        text +=
            &if index == 0 { format!("{HEADING}{line}{HEADING:#}\n") } else { format!("{line}\n") };
    }
    text
}

fn page(contract: &Contract) -> String {
    let Contract { id, version, title, description, .. } = contract;
    let (intake, repairs) = (contract.intake.as_str(), contract.repairs.as_str());
    let (reask, then) = (contract.on_violation.reask, contract.on_violation.then.as_str());
    let mut text =
        format!("{HEADING}{id} {version}{HEADING:#}  {title}\n\n{}\n\n", description.trim());
    text += &format!("digest         {}\n", contract.digest);
    text += &format!("intake         {intake}, repairs: {repairs}\n");
    let times = if reask == 1 { "once".to_owned() } else { format!("{reask} times") };
    text += &format!("on violation   ask again {times}, then {then}\n");
    text += &format!(
        "compatibility  {} {}\n",
        contract.compatibility.as_str(),
        contract.migration_notes
    );
    if !contract.rules.is_empty() {
        text += &format!("\n{HEADING}Rules{HEADING:#}\n");
    }
    for rule in &contract.rules {
        let place = match &rule.each {
            Some(each) => format!("{each}{}", rule.at),
            None if rule.at.is_empty() => "the whole reply".to_owned(),
            None => rule.at.clone(),
        };
        text += &format!("  {} at {place}\n    {}\n", rule.id, rule.says);
        if let Some(when) = &rule.when {
            text += &format!("    when {}\n", when.source());
        }
        text += &format!("    then {}\n", rule.then.source());
    }
    text += &format!("\n{HEADING}Schema{HEADING:#}\n{:#}\n", contract.schema.source());
    text
}
