//! `countersign contract export`: exports a contract's schema for a provider.

use std::path::Path;

use countersign_schema_tools::{ExportTarget, ExportedContract, export_contract};
use countersign_view::wire::ContractExportView;
use serde_json::json;

use crate::args::ExportTargetArg;
use crate::exit::{CliError, CliExit};
use crate::{files, output};

pub(super) fn run(
    folder: Option<&Path>,
    id: &str,
    target: ExportTargetArg,
    json: bool,
) -> Result<CliExit, CliError> {
    let contract = files::load_contract(id, folder)?;
    let target = match target {
        ExportTargetArg::Openai => ExportTarget::OpenAi,
        ExportTargetArg::Anthropic => ExportTarget::Anthropic,
        ExportTargetArg::Gemini => ExportTarget::Gemini,
        ExportTargetArg::Grammar => ExportTarget::Grammar,
    };
    let exported = export_contract(&contract, target);
    if json {
        output::print_json(&json!(ContractExportView::from_export(&exported, target)));
        return Ok(CliExit::Success);
    }
    match exported.grammar() {
        Some(grammar) => output::print_json_text(grammar),
        None => output::print_json(&exported.output),
    }
    print_losses(&exported);
    Ok(CliExit::Success)
}

/// Prints the losses of an export for people.
fn print_losses(exported: &ExportedContract) {
    if exported.losses.is_empty() {
        output::print_message("no constraint is lost");
        return;
    }
    output::print_message(&format!(
        "{} constraints that only Countersign enforces:",
        exported.losses.len()
    ));
    for loss in &exported.losses {
        let location = if loss.pointer.is_empty() { "the whole value" } else { &loss.pointer };
        output::print_message(&format!(
            "  {} {location}, {}: {}",
            loss.effect.as_str(),
            loss.keyword,
            loss.reason
        ));
    }
    if !exported.nullable.is_empty() {
        let pointers = exported.nullable.join(", ");
        output::print_message(&format!(
            "null means absent and is removed before admission, at: {pointers}"
        ));
    }
}
