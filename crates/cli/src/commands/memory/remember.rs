//! `countersign memory remember`: stores one item from flags, or many from lines.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use countersign_memory::MemoryScope;
use countersign_memory::rules::ClaimOutcome;
use countersign_run::Timestamp;
use countersign_runtime::memory_context::{
    IngestReport, IngestedItem, InputAuthor, MemoryInput, MemoryWrite, ingest_items,
    to_memory_write,
};
use countersign_view::wire::RememberResponse;
use serde_json::json;

use super::item_flags::parse_item;
use super::open_memory;
use crate::args::{MemoryRememberArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, GOOD, HEADING};

/// The maximum number of items to list one by one.
const MAX_LISTED: usize = 20;

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemoryRememberArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let (scope, now) = (open_memory::resolve_scope(whose)?, open_memory::resolve_now(whose)?);
    let things = match parse_item(args)? {
        Some(input) => vec![(
            0,
            to_memory_write(input, InputAuthor::Person, &scope, now).map_err(CliError::Usage)?,
        )],
        None => read_items(args.file.as_deref(), &scope, now)?,
    };
    // Read the items before creating a folder or a database for them.
    let memory = open_memory::open_or_create(whose)?;
    block_on(async {
        let account = ingest_items(&*memory, things, now).await?;
        print_results(&account, json);
        Ok(if account.refused.is_empty() { CliExit::Success } else { CliExit::Refused })
    })
}

/// Reads items from a JSON Lines file, each with its line number. An invalid line aborts the whole
/// command.
fn read_items(
    file: Option<&Path>,
    scope: &MemoryScope,
    now: Timestamp,
) -> Result<Vec<(usize, MemoryWrite)>, CliError> {
    let (name, text) = match file.filter(|file| *file != Path::new("-")) {
        Some(file) => (file.display().to_string(), crate::files::read_text(file)?),
        None if file.is_none() && std::io::stdin().is_terminal() => {
            return Err(CliError::Usage(
                "there is nothing to remember; use `--event`, `--fact`, `--episode`, `--procedure`, `--insight`, `--working-memory` or `--summary`, or a JSON Lines file"
                    .to_owned(),
            ));
        }
        None => {
            let mut text = String::new();
            let unreadable =
                |source| CliError::Unreadable { what: "standard input".to_owned(), source };
            std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
            ("<stdin>".to_owned(), text)
        }
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let things: Vec<(usize, MemoryWrite)> = lines
        .map(|(number, line)| {
            let value =
                serde_json::from_str(line).map_err(|error| format!("invalid JSON: {error}"));
            let input = value.and_then(MemoryInput::from_json);
            let thing =
                input.and_then(|input| to_memory_write(input, InputAuthor::Person, scope, now));
            thing
                .map(|thing| (number, thing))
                .map_err(|said| CliError::Usage(format!("{name}:{number}: {said}")))
        })
        .collect::<Result<_, _>>()?;
    if things.is_empty() {
        return Err(CliError::Usage(format!("{name} is empty; there is nothing to remember")));
    }
    Ok(things)
}

fn print_results(account: &IngestReport, json: bool) {
    if json {
        output::print_json(&json!(RememberResponse::from(account)));
        return;
    }
    for done in account.saved.iter().take(MAX_LISTED) {
        output::print_message(&describe_outcome(done));
    }
    if account.saved.len() > MAX_LISTED {
        output::print_message(&format!("… and {} more", account.saved.len() - MAX_LISTED));
    }
    for (line, said) in &account.refused {
        let location = if *line == 0 { String::new() } else { format!(" line {line}") };
        output::print_message(&format!("{BAD}refused{BAD:#}{location}: {said}"));
    }
}

/// Describes in one sentence what was stored.
pub(super) fn describe_outcome(done: &IngestedItem) -> String {
    let IngestedItem { kind, id, revision, outcome } = done;
    let named = format!("{kind} {HEADING}{id}{HEADING:#}");
    let list = |ids: &[String]| ids.join(", ");
    match outcome {
        ClaimOutcome::Added if *revision > 1 => {
            format!("{GOOD}kept{GOOD:#} {named}, revision {revision}")
        }
        ClaimOutcome::Added => format!("{GOOD}kept{GOOD:#} {named}"),
        ClaimOutcome::Supported(_) if *revision > 1 => {
            format!("{GOOD}known{GOOD:#} {named}: revision {revision} is unchanged")
        }
        ClaimOutcome::Supported(_) => format!("{GOOD}known{GOOD:#} {named}: it adds nothing new"),
        ClaimOutcome::Superseded(ids) if ids.iter().all(|other| other == id) => {
            format!("{GOOD}kept{GOOD:#} {named}, revision {revision}")
        }
        ClaimOutcome::Superseded(ids) => {
            format!("{GOOD}kept{GOOD:#} {named}; it replaces {}", list(ids))
        }
        ClaimOutcome::Outdated(other) => {
            format!("{GOOD}kept{GOOD:#} {named} as outdated: {other} is current")
        }
        ClaimOutcome::Disputed(ids) => format!(
            "{BAD}disputed{BAD:#} {named}: it contradicts {}, and neither outranks the other; to settle it, confirm one yourself: `memory remember --fact … --confirmed`",
            list(ids)
        ),
    }
}
