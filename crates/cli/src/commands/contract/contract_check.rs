//! `countersign contract check FILE|ID…`: reports the diagnostics of contracts with their
//! locations.

use std::path::Path;

use countersign_contract::contract::{check_contract, check_schema};
use countersign_contract::source::{Diagnostic, DiagnosticSeverity, ParsedSourceFile, SourceFile};
use countersign_view::wire::CheckReport;
use serde_json::json;

use crate::exit::{CliError, CliExit};
use crate::render::{self, BAD, GOOD};
use crate::{files, output};

pub(super) fn run(
    folder: Option<&Path>,
    names: &[String],
    strict: bool,
    json: bool,
) -> Result<CliExit, CliError> {
    let mut findings = Vec::new();
    for name in names {
        findings.extend(check_named_contract(folder, name)?);
    }
    findings.sort_by_key(|one| (one.severity, one.source.name.clone(), one.span.start));
    let errors = findings.iter().filter(|one| one.severity == DiagnosticSeverity::Error).count();
    let warnings = findings.len() - errors;
    if json {
        output::print_json(&json!(CheckReport::from_diagnostics(
            names.join(" "),
            names.len(),
            findings
        )));
    } else {
        for one in &findings {
            output::print_message(&render::format_fault(one, &one.source.name));
            output::print_message("");
        }
        output::print_message(&format_summary(names.len(), errors, warnings));
    }
    let bad = errors > 0 || strict && warnings > 0;
    Ok(if bad { CliExit::Refused } else { CliExit::Success })
}

/// Returns the diagnostics of one contract. For a contract without a file, they refer to its
/// schema.
fn check_named_contract(folder: Option<&Path>, name: &str) -> Result<Vec<Diagnostic>, CliError> {
    if files::is_contract_path(name) {
        let path = Path::new(name);
        let source = SourceFile::new(name, files::read_text(path)?);
        let shipped = countersign_shipped_contracts::load_shipped_contracts();
        return Ok(check_contract(source, &files::reference_reader(path), &shipped));
    }
    let contract = files::load_contract(name, folder)?;
    let text = format!("{:#}", contract.schema.source());
    let source = SourceFile::new(format!("{}@{}.json", contract.id, contract.version), text);
    let tree =
        ParsedSourceFile::parse(source).map_err(|fault| CliError::InvalidFiles(vec![fault]))?;
    Ok(check_schema(&tree, "", &contract.schema))
}

fn format_summary(contracts: usize, errors: usize, warnings: usize) -> String {
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
        format!("{GOOD}no problems found{GOOD:#}: {all}")
    } else {
        format!("{} in {all}", parts.join(", "))
    }
}
