//! The tables, and the cases that went wrong, as text.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::Value;

use super::case::Case;
use super::tally::{Counts, Tally};

/// A row of the first table: a system, and how it fared or why it did not run.
pub(crate) struct Row {
    pub(crate) system: String,
    pub(crate) tally: Result<Tally, String>,
}

/// What Countersign did that it should not have done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Misdeed {
    /// It took the decoy.
    Decoy,
    /// It accepted something else than the truth.
    Wrong(Value),
    /// It panicked.
    Panic,
}

/// A misdeed and its case.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) level: &'static str,
    pub(crate) misdeed: Misdeed,
    pub(crate) case: Case,
}

/// The table of systems.
pub(crate) fn systems(out: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    writeln!(
        out,
        "| system | recoverable: right | wrong | refused | meaning gone: accepted | refused | decoys: right | taken | wrong | refused |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|")?;
    for Row { system, tally } in rows {
        match tally {
            Ok(Tally { recoverable, spoiled, decoys, .. }) => writeln!(
                out,
                "| {system} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                recoverable.right,
                recoverable.wrong,
                recoverable.refused,
                spoiled.wrong,
                spoiled.refused,
                decoys.right,
                decoys.decoy,
                decoys.wrong,
                decoys.refused
            )?,
            Err(reason) => writeln!(out, "| {system} | not run: {reason} | | | | | | | | |")?,
        }
    }
    writeln!(out)
}

/// A table by label.
pub(crate) fn labels(
    out: &mut dyn Write,
    title: &str,
    counts: &BTreeMap<&str, Counts>,
    decoys: bool,
) -> io::Result<()> {
    let taken = if decoys { " decoy taken |" } else { "" };
    writeln!(out, "| {title} | right |{taken} wrong | refused |")?;
    writeln!(out, "|---|---|---|---|{}", if decoys { "---|" } else { "" })?;
    for (label, counts) in counts {
        let taken = if decoys { format!(" {} |", counts.decoy) } else { String::new() };
        writeln!(
            out,
            "| {label} | {} |{taken} {} | {} |",
            counts.right, counts.wrong, counts.refused
        )?;
    }
    writeln!(out)
}

/// One fault, with the exact text as a JSON string.
pub(crate) fn fault(out: &mut dyn Write, fault: &Fault) -> io::Result<()> {
    let Fault { level, misdeed, case } = fault;
    let kind = match misdeed {
        Misdeed::Decoy => "decoy taken",
        Misdeed::Wrong(_) => "wrong",
        Misdeed::Panic => "panic",
    };
    let labels = case.labels.join(", ");
    writeln!(out, "{kind} at {level}: case {}, {}, {labels}", case.number, case.contract)?;
    writeln!(out, "  text: {}", Value::from(case.text.as_str()))?;
    match misdeed {
        Misdeed::Wrong(_) if !case.tolerable => writeln!(out, "  should have been refused"),
        Misdeed::Wrong(accepted) => match difference(&case.truth, accepted, "") {
            Some((pointer, truth, found)) => {
                writeln!(out, "  at `{pointer}` the truth is {truth}, accepted was {found}")
            }
            None => Ok(()),
        },
        Misdeed::Decoy | Misdeed::Panic => Ok(()),
    }
}

/// The first place where two values differ.
fn difference(truth: &Value, found: &Value, at: &str) -> Option<(String, String, String)> {
    if truth == found {
        return None;
    }
    match (truth, found) {
        (Value::Object(truth), Value::Object(found)) => truth
            .iter()
            .find_map(|(key, value)| {
                difference(value, found.get(key).unwrap_or(&Value::Null), &format!("{at}/{key}"))
            })
            .or_else(|| {
                Some((at.to_owned(), "without".to_owned(), "with fields of its own".to_owned()))
            }),
        (Value::Array(truth), Value::Array(found)) if truth.len() == found.len() => {
            truth.iter().zip(found).enumerate().find_map(|(index, (truth, found))| {
                difference(truth, found, &format!("{at}/{index}"))
            })
        }
        _ => Some((at.to_owned(), truth.to_string(), found.to_string())),
    }
}
