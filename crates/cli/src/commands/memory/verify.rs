//! `countersign memory verify-erased` and `verify-scope`: proofs, with exit code 1 where they fail.

use countersign_memory::store::{Misplaced, Trace};
use serde_json::{Value, json};

use super::desk;
use crate::args::{VerifyErased, Whose};
use crate::exit::{Error, Exit};
use crate::files;
use crate::house::wait;
use crate::output;
use crate::place::Place;
use crate::show::{BAD, GOOD};
use crate::table::table;
use countersign_server::show::shortened;

/// What a server keeps beneath its tables.
const BENEATH_TABLES: [&str; 4] =
    ["free space in pages", "the write-ahead log", "standbys", "backups"];

/// Looks for bytes in the file of the memory, its write-ahead log and that log's index; on a server in its tables.
pub(super) fn erased(whose: &Whose, args: &VerifyErased, json: bool) -> Result<Exit, Error> {
    let mut needles = args.needles.clone();
    if let Some(file) = &args.file {
        needles.extend(files::text(file)?.lines().map(str::to_owned));
    }
    needles.retain(|needle| !needle.is_empty());
    if needles.is_empty() {
        return Err(Error::Usage(
            "what is to be looked for? `--needle TEXT` names it, `--needles FILE` has one a line"
                .to_owned(),
        ));
    }
    let Some(memory) = desk::find(whose)? else {
        told_erased(&[], &needles, &[], json, desk::NOTHING);
        return Ok(Exit::Good);
    };
    let blind: &[&str] = match desk::place(whose)? {
        Some(Place::Server(_)) => &BENEATH_TABLES,
        _ => &[],
    };
    wait(async {
        let bytes = needles.iter().map(|needle| needle.clone().into_bytes()).collect();
        let traces = memory.traces(bytes).await?;
        let texts = desk::counted(needles.len() as u64, "text");
        let good = if blind.is_empty() {
            format!(
                "{GOOD}erased{GOOD:#}: {texts} looked for in every byte of the memory, and not found"
            )
        } else {
            format!(
                "{GOOD}erased{GOOD:#}: {texts} looked for in every column of every table of memory, and not \
                 found.\nNot looked into, because nobody can from here: {}.",
                blind.join(", ")
            )
        };
        told_erased(&traces, &needles, blind, json, &good);
        Ok(if traces.is_empty() { Exit::Good } else { Exit::Refused })
    })
}

fn told_erased(traces: &[Trace], needles: &[String], blind: &[&str], json: bool, good: &str) {
    if json {
        let found: Vec<Value> = traces
            .iter()
            .map(|trace| {
                let needle = &needles[trace.needle];
                json!({ "needle": needle, "file": trace.place, "offset": trace.offset })
            })
            .collect();
        let erased = traces.is_empty();
        output::json(&json!({ "erased": erased, "found": found, "not_looked_into": blind }));
        return;
    }
    if traces.is_empty() {
        output::talk(good);
        return;
    }
    for Trace { needle, place, offset } in traces {
        let needle = shortened(&needles[*needle], 40);
        output::talk(&format!("{BAD}found{BAD:#} \"{needle}\" in {place} at byte {offset}"));
    }
}

/// Looks for rows that lack a scope or cross one.
pub(super) fn scope(whose: &Whose, json: bool) -> Result<Exit, Error> {
    let Some(memory) = desk::find(whose)? else {
        told_scope(&[], json, desk::NOTHING);
        return Ok(Exit::Good);
    };
    wait(async {
        let misplaced = memory.misplaced().await?;
        let good =
            format!("{GOOD}in order{GOOD:#}: every row has a scope, and refers to no other's");
        told_scope(&misplaced, json, &good);
        Ok(if misplaced.is_empty() { Exit::Good } else { Exit::Refused })
    })
}

fn told_scope(misplaced: &[Misplaced], json: bool, good: &str) {
    if json {
        let rows: Vec<Value> = misplaced
            .iter()
            .map(|it| json!({ "table": it.table, "row": it.row, "what": it.what }))
            .collect();
        output::json(&json!({ "in_order": misplaced.is_empty(), "misplaced": rows }));
        return;
    }
    if misplaced.is_empty() {
        output::talk(good);
        return;
    }
    let rows: Vec<[String; 3]> = misplaced
        .iter()
        .map(|it| [it.table.clone(), shortened(&it.row, 40), it.what.clone()])
        .collect();
    output::data(&table(["TABLE", "ROW", "WHAT IS WRONG"], &rows));
}
