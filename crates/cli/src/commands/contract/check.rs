//! `countersign contract check FILE|ID…`: faults and findings of contracts, beside their places.

use std::path::Path;

use countersign_core::contract::{check_contract, check_schema};
use countersign_core::spec::{Diagnostic, Severity, Source, Tree};
use countersign_server::wire::Findings;
use serde_json::json;

use crate::exit::{Error, Exit};
use crate::show::{self, BAD, GOOD};
use crate::{files, output};

pub(super) fn run(
    folder: Option<&Path>,
    names: &[String],
    strict: bool,
    json: bool,
) -> Result<Exit, Error> {
    let mut findings = Vec::new();
    for name in names {
        findings.extend(look(folder, name)?);
    }
    findings.sort_by_key(|one| (one.severity, one.source.name.clone(), one.span.start));
    let errors = findings.iter().filter(|one| one.severity == Severity::Error).count();
    let warnings = findings.len() - errors;
    if json {
        output::json(&json!(Findings::of(names.join(" "), names.len(), findings)));
    } else {
        for one in &findings {
            output::talk(&show::fault(one, &one.source.name));
            output::talk("");
        }
        output::talk(&summary(names.len(), errors, warnings));
    }
    let bad = errors > 0 || strict && warnings > 0;
    Ok(if bad { Exit::Refused } else { Exit::Good })
}

/// The findings of one contract. One without a file is shown as its schema.
fn look(folder: Option<&Path>, name: &str) -> Result<Vec<Diagnostic>, Error> {
    if files::is_path(name) {
        let path = Path::new(name);
        let source = Source::new(name, files::text(path)?);
        let shipped = countersign_contracts::registry();
        return Ok(check_contract(source, &files::reader(path), &shipped));
    }
    let contract = files::contract(name, folder)?;
    let text = format!("{:#}", contract.schema.source());
    let source = Source::new(format!("{}@{}.json", contract.id, contract.version), text);
    let tree = Tree::parse(source).map_err(|fault| Error::Author(vec![fault]))?;
    Ok(check_schema(&tree, "", &contract.schema))
}

fn summary(contracts: usize, errors: usize, warnings: usize) -> String {
    let count = |number: usize, noun: &str| {
        format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
    };
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(format!("{BAD}{}{BAD:#}", count(errors, "error")));
    }
    if warnings > 0 {
        parts.push(count(warnings, "warning"));
    }
    let all = count(contracts, "contract");
    if parts.is_empty() {
        format!("{GOOD}no fault found{GOOD:#}: {all}")
    } else {
        format!("{} in {all}", parts.join(", "))
    }
}
