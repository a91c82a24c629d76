//! `countersign contract diff`

use std::path::Path;

use countersign_core::contract::{Answer, Comparison, Contract, compare_with};
use countersign_server::wire;
use serde_json::json;

use crate::exit::{Error, Exit};
use crate::show::HEADING;
use crate::{files, output};

pub(super) fn run(
    folder: Option<&Path>,
    [old, new]: [&str; 2],
    examples: Option<&Path>,
    json: bool,
) -> Result<Exit, Error> {
    let old = files::contract(old, folder)?;
    let new = files::contract(new, folder)?;
    let examples = examples.map(files::lines).transpose()?.unwrap_or_default();
    let comparison = compare_with(&old, &new, &examples);
    if json {
        output::json(&json!(wire::Comparison::of(&old, &new, &comparison)));
    } else {
        output::data(&page(&old, &new, &comparison));
    }
    Ok(if comparison.backward == Answer::Yes { Exit::Good } else { Exit::Refused })
}

fn page(old: &Contract, new: &Contract, comparison: &Comparison) -> String {
    let word = comparison.compatibility().as_str();
    let mut text = format!(
        "{HEADING}{} {}{HEADING:#} → {HEADING}{} {}{HEADING:#}: {HEADING}{word}{HEADING:#}{}\n",
        old.id,
        old.version,
        new.id,
        new.version,
        if comparison.undecided() { ", as far as it could be decided" } else { "" },
    );
    if new.compatibility.as_str() != word && old.digest != new.digest {
        let declared = new.compatibility.as_str();
        text += &format!("the new file declares `{declared}`; found `{word}`\n");
    }
    text +=
        &direction("backward: the new one takes all that the old one took", &comparison.backward);
    text +=
        &direction("forward: the old one takes all that the new one takes", &comparison.forward);
    if !comparison.changes.is_empty() {
        text += &format!("\n{HEADING}Changes{HEADING:#}\n");
    }
    for change in &comparison.changes {
        let place = if change.pointer.is_empty() { "the whole" } else { &change.pointer };
        text += &format!("  {place}: {}\n", change.says);
    }
    text
}

fn direction(question: &str, answer: &Answer) -> String {
    match answer {
        Answer::Yes => format!("\n{question}: yes, proven\n"),
        Answer::Unknown { reason } => format!("\n{question}: not decided\n  {reason}\n"),
        Answer::No { witness, text, because } => {
            let mut shown = format!("\n{question}: no\n  this value shows it: {witness}\n");
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
