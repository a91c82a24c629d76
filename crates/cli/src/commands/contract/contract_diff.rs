//! `countersign contract diff`: compares two versions of a contract.

use std::path::Path;

use countersign_contract::contract::Contract;
use countersign_schema_tools::{CompatOutcome, ContractComparison, compare_with};
use countersign_view::wire;
use serde_json::json;

use crate::exit::{CliError, CliExit};
use crate::render::HEADING;
use crate::{files, output};

pub(super) fn run(
    folder: Option<&Path>,
    [old, new]: [&str; 2],
    examples: Option<&Path>,
    json: bool,
) -> Result<CliExit, CliError> {
    let old = files::load_contract(old, folder)?;
    let new = files::load_contract(new, folder)?;
    let examples = examples.map(files::read_json_lines).transpose()?.unwrap_or_default();
    let comparison = compare_with(&old, &new, &examples);
    if json {
        output::print_json(&json!(wire::ContractDiffView::from_comparison(
            &old,
            &new,
            &comparison
        )));
    } else {
        output::print_data(&render_comparison(&old, &new, &comparison));
    }
    Ok(if comparison.backward == CompatOutcome::Yes { CliExit::Success } else { CliExit::Refused })
}

fn render_comparison(old: &Contract, new: &Contract, comparison: &ContractComparison) -> String {
    let word = comparison.compatibility().as_str();
    let mut text = format!(
        "{HEADING}{} {}{HEADING:#} → {HEADING}{} {}{HEADING:#}: {HEADING}{word}{HEADING:#}{}\n",
        old.id,
        old.version,
        new.id,
        new.version,
        if comparison.is_undecided() { ", as far as it can be decided" } else { "" },
    );
    if new.compatibility.as_str() != word && old.digest != new.digest {
        let declared = new.compatibility.as_str();
        text += &format!("the new file declares `{declared}`; found `{word}`\n");
    }
    text += &format_direction(
        "backward: the new version accepts everything that the old one accepted",
        &comparison.backward,
    );
    text += &format_direction(
        "forward: the old version accepts everything that the new one accepts",
        &comparison.forward,
    );
    if !comparison.changes.is_empty() {
        text += &format!("\n{HEADING}Changes{HEADING:#}\n");
    }
    for change in &comparison.changes {
        let location = if change.pointer.is_empty() { "the whole value" } else { &change.pointer };
        text += &format!("  {location}: {}\n", change.message);
    }
    text
}

fn format_direction(question: &str, answer: &CompatOutcome) -> String {
    match answer {
        CompatOutcome::Yes => format!("\n{question}: yes, proven\n"),
        CompatOutcome::Unknown { reason } => format!("\n{question}: not decided\n  {reason}\n"),
        CompatOutcome::No { witness, reply_text: text, violations: because } => {
            let mut shown = format!("\n{question}: no\n  counterexample: {witness}\n");
            if let Some(text) = text {
                shown += &format!("  sent as: {text}\n");
            }
            for reason in because {
                shown += &format!("  refused: {reason}\n");
            }
            shown
        }
    }
}
