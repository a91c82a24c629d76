//! `countersign contract diff`

use std::path::Path;

use countersign_core::contract::{Answer, Comparison, Contract, compare_with};
use serde_json::{Value, json};

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
        output::json(&report(&old, &new, &comparison));
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

fn report(old: &Contract, new: &Contract, comparison: &Comparison) -> Value {
    let named = |contract: &Contract| json!({ "id": contract.id, "version": contract.version, "digest": contract.digest });
    let changes = comparison.changes.iter().map(|change| {
        json!({ "pointer": change.pointer, "kind": change.kind.as_str(), "says": change.says })
    });
    json!({
        "old": named(old),
        "new": named(new),
        "compatibility": comparison.compatibility().as_str(),
        "declared": new.compatibility.as_str(),
        "undecided": comparison.undecided(),
        "backward": answer(&comparison.backward),
        "forward": answer(&comparison.forward),
        "changes": changes.collect::<Value>(),
    })
}

fn answer(answer: &Answer) -> Value {
    match answer {
        Answer::Yes => json!({ "answer": "yes" }),
        Answer::No { witness, text, because } => {
            json!({ "answer": "no", "witness": witness, "text": text, "because": because })
        }
        Answer::Unknown { reason } => json!({ "answer": "unknown", "reason": reason }),
    }
}
