//! `countersign memory verify-erased` and `verify-scope`: verify the memory and exit with code 1 if
//! a check fails.

use countersign_memory::store::{ResidueMatch, ScopeViolation};
use serde_json::{Value, json};

use super::open_memory;
use crate::args::{ScopeArgs, VerifyErasedArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::files;
use crate::output;
use crate::render::{BAD, GOOD};
use crate::store_location::StoreLocation;
use crate::table::render_table;
use countersign_view::show::truncate_line;

/// The storage layers of a server that cannot be scanned.
const UNSCANNED_LAYERS: [&str; 4] =
    ["free space in pages", "the write-ahead log", "standbys", "backups"];

/// Searches for bytes in the memory file, its write-ahead log and the index of that log; on a
/// server, in its tables.
pub(super) fn verify_erased(
    whose: &ScopeArgs,
    args: &VerifyErasedArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let mut needles = args.needles.clone();
    if let Some(file) = &args.file {
        needles.extend(files::read_text(file)?.lines().map(str::to_owned));
    }
    needles.retain(|needle| !needle.is_empty());
    if needles.is_empty() {
        return Err(CliError::Usage(
            "no text to search for; use `--needle TEXT`, or `--needles FILE` with one text per line"
                .to_owned(),
        ));
    }
    let Some(memory) = open_memory::find_memory(whose)? else {
        report_erased(&[], &needles, &[], json, open_memory::NO_MEMORY_MESSAGE);
        return Ok(CliExit::Success);
    };
    let blind: &[&str] = match open_memory::resolve_location(whose)? {
        Some(StoreLocation::Server(_)) => &UNSCANNED_LAYERS,
        _ => &[],
    };
    block_on(async {
        let bytes = needles.iter().map(|needle| needle.clone().into_bytes()).collect();
        let traces = memory.scan_residue(bytes).await?;
        let texts = open_memory::pluralize(needles.len() as u64, "text");
        let good = if blind.is_empty() {
            format!(
                "{GOOD}erased{GOOD:#}: searched every byte of the memory for {texts}, and found none"
            )
        } else {
            format!(
                "{GOOD}erased{GOOD:#}: searched every column of every table of the memory for {texts}, and found \
                 none.\nNot searched, because this program cannot read them: {}.",
                blind.join(", ")
            )
        };
        report_erased(&traces, &needles, blind, json, &good);
        Ok(if traces.is_empty() { CliExit::Success } else { CliExit::Refused })
    })
}

fn report_erased(
    traces: &[ResidueMatch],
    needles: &[String],
    blind: &[&str],
    json: bool,
    good: &str,
) {
    if json {
        let found: Vec<Value> = traces
            .iter()
            .map(|trace| {
                let needle = &needles[trace.needle];
                json!({ "needle": needle, "file": trace.location, "offset": trace.offset })
            })
            .collect();
        let erased = traces.is_empty();
        output::print_json(&json!({ "erased": erased, "found": found, "not_scanned": blind }));
        return;
    }
    if traces.is_empty() {
        output::print_message(good);
        return;
    }
    for ResidueMatch { needle, location, offset } in traces {
        let needle = truncate_line(&needles[*needle], 40);
        output::print_message(&format!(
            "{BAD}found{BAD:#} \"{needle}\" in {location} at byte {offset}"
        ));
    }
}

/// Searches for rows that lack a scope or cross scopes.
pub(super) fn verify_scope(whose: &ScopeArgs, json: bool) -> Result<CliExit, CliError> {
    let Some(memory) = open_memory::find_memory(whose)? else {
        report_scope(&[], json, open_memory::NO_MEMORY_MESSAGE);
        return Ok(CliExit::Success);
    };
    block_on(async {
        let misplaced = memory.find_scope_violations().await?;
        let good = format!(
            "{GOOD}valid{GOOD:#}: every row has a scope, and refers to no row of another scope"
        );
        report_scope(&misplaced, json, &good);
        Ok(if misplaced.is_empty() { CliExit::Success } else { CliExit::Refused })
    })
}

fn report_scope(misplaced: &[ScopeViolation], json: bool, good: &str) {
    if json {
        let rows: Vec<Value> = misplaced
            .iter()
            .map(|it| json!({ "table": it.table, "row": it.row, "problem": it.problem }))
            .collect();
        output::print_json(&json!({ "ok": misplaced.is_empty(), "violations": rows }));
        return;
    }
    if misplaced.is_empty() {
        output::print_message(good);
        return;
    }
    let rows: Vec<[String; 3]> = misplaced
        .iter()
        .map(|it| [it.table.clone(), truncate_line(&it.row, 40), it.problem.clone()])
        .collect();
    output::print_data(&render_table(["TABLE", "ROW", "PROBLEM"], &rows));
}
