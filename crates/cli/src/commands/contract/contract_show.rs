//! `countersign contract show`: prints one contract.

use std::path::Path;

use countersign_contract::contract::Contract;
use countersign_view::wire::ContractView;
use serde_json::json;

use crate::exit::{CliError, CliExit};
use crate::render::HEADING;
use crate::{files, output};

pub(super) fn run(
    folder: Option<&Path>,
    id: &str,
    schema: bool,
    json: bool,
) -> Result<CliExit, CliError> {
    let contract = files::load_contract(id, folder)?;
    if schema {
        output::print_json(contract.schema.source());
    } else if json {
        output::print_json(&json!(ContractView::from(&*contract)));
    } else {
        output::print_data(&render_contract(&contract));
    }
    Ok(CliExit::Success)
}

fn render_contract(contract: &Contract) -> String {
    let Contract { id, version, title, description, .. } = contract;
    let (intake, repairs) = (contract.intake.as_str(), contract.repairs.as_str());
    let (reask, then) = (contract.on_violation.reask, contract.on_violation.then.as_str());
    let mut text =
        format!("{HEADING}{id} {version}{HEADING:#}  {title}\n\n{}\n\n", description.trim());
    text += &format!("digest         {}\n", contract.digest);
    text += &format!("intake         {intake}, repairs: {repairs}\n");
    text += &format!(
        "fields         unknown: {}, empty: {}\n",
        contract.extra_fields.as_str(),
        contract.empty_fields.as_str()
    );
    if let Some(field) = &contract.text_field {
        text += &format!("plain text     is taken as `{field}`\n");
    }
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
        let location = match &rule.each {
            Some(each) => format!("{each}{}", rule.at),
            None if rule.at.is_empty() => "the whole reply".to_owned(),
            None => rule.at.clone(),
        };
        text += &format!("  {} at {location}\n    {}\n", rule.id, rule.says);
        if let Some(when) = &rule.when {
            text += &format!("    when {}\n", when.source());
        }
        text += &format!("    then {}\n", rule.then.source());
    }
    text += &format!("\n{HEADING}Schema{HEADING:#}\n{:#}\n", contract.schema.source());
    text
}
