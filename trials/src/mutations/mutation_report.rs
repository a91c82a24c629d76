//! Prints the tables and the failed cases as text.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::Value;

use super::case::MutationCase;
use super::mutation_tally::{MutationTally, OutcomeCounts};

/// A row of the first table: a system, and its tally or why it did not run.
pub(crate) struct SystemRow {
    pub(crate) system: String,
    pub(crate) tally: Result<MutationTally, String>,
}

/// How Countersign failed in a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CaseFailureKind {
    /// It accepted the decoy.
    Decoy,
    /// It accepted a value other than the truth.
    Wrong(Value),
    /// It panicked on the text.
    Panic,
}

/// A failed case and the repair level at which it failed.
#[derive(Debug)]
pub(crate) struct CaseFailure {
    pub(crate) level: &'static str,
    pub(crate) kind: CaseFailureKind,
    pub(crate) case: MutationCase,
}

/// Writes the table of systems.
pub(crate) fn write_systems(out: &mut dyn Write, rows: &[SystemRow]) -> io::Result<()> {
    writeln!(
        out,
        "| system | recoverable: right | wrong | refused | meaning gone: accepted | refused | decoys: right | taken | wrong | refused |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|")?;
    for SystemRow { system, tally } in rows {
        match tally {
            Ok(MutationTally { recoverable, unrecoverable: spoiled, decoys, .. }) => writeln!(
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

/// Writes a table by label.
pub(crate) fn write_labels(
    out: &mut dyn Write,
    title: &str,
    counts: &BTreeMap<&str, OutcomeCounts>,
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

/// Writes one failure, with the exact text as a JSON string.
pub(crate) fn write_failure(out: &mut dyn Write, fault: &CaseFailure) -> io::Result<()> {
    let CaseFailure { level, kind: misdeed, case } = fault;
    let kind = match misdeed {
        CaseFailureKind::Decoy => "decoy taken",
        CaseFailureKind::Wrong(_) => "wrong",
        CaseFailureKind::Panic => "panic",
    };
    let labels = case.labels.join(", ");
    writeln!(out, "{kind} at {level}: case {}, {}, {labels}", case.number, case.contract)?;
    writeln!(out, "  text: {}", Value::from(case.text.as_str()))?;
    match misdeed {
        CaseFailureKind::Wrong(_) if !case.recoverable => {
            writeln!(out, "  should have been refused")
        }
        CaseFailureKind::Wrong(accepted) => match find_difference(&case.truth, accepted, "") {
            Some((pointer, truth, found)) => {
                writeln!(out, "  at `{pointer}`: expected {truth}, accepted {found}")
            }
            None => Ok(()),
        },
        CaseFailureKind::Decoy | CaseFailureKind::Panic => Ok(()),
    }
}

/// Returns the first pointer at which two values differ, with both values.
fn find_difference(truth: &Value, found: &Value, at: &str) -> Option<(String, String, String)> {
    if truth == found {
        return None;
    }
    match (truth, found) {
        (Value::Object(truth), Value::Object(found)) => truth
            .iter()
            .find_map(|(key, value)| {
                find_difference(
                    value,
                    found.get(key).unwrap_or(&Value::Null),
                    &format!("{at}/{key}"),
                )
            })
            .or_else(|| {
                Some((at.to_owned(), "without".to_owned(), "with fields of its own".to_owned()))
            }),
        (Value::Array(truth), Value::Array(found)) if truth.len() == found.len() => {
            truth.iter().zip(found).enumerate().find_map(|(index, (truth, found))| {
                find_difference(truth, found, &format!("{at}/{index}"))
            })
        }
        _ => Some((at.to_owned(), truth.to_string(), found.to_string())),
    }
}
