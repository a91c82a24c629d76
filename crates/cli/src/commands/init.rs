//! `countersign init [TEMPLATE]`: copies a shipped protocol into a folder, where it can be changed.

use std::fs;
use std::path::Path;

use countersign_contract::find_similar_name;
use countersign_shipped_protocols::{SHIPPED_PROTOCOLS, ShippedProtocol, find_shipped_protocol};
use serde_json::json;

use crate::args::InitArgs;
use crate::exit::{CliError, CliExit};
use crate::{output, table};

pub(super) fn run(args: &InitArgs, json: bool) -> Result<CliExit, CliError> {
    if args.list {
        let rows: Vec<[String; 2]> = SHIPPED_PROTOCOLS
            .iter()
            .map(|one| [one.name.to_owned(), one.description.to_owned()])
            .collect();
        if json {
            output::print_json(
                &SHIPPED_PROTOCOLS
                    .iter()
                    .map(|one| json!({ "name": one.name, "description": one.description }))
                    .collect(),
            );
        } else {
            output::print_data(&table::render_table(["TEMPLATE", "DESCRIPTION"], &rows));
        }
        return Ok(CliExit::Success);
    }
    let shipped = find_template(&args.template)?;
    let written = write_template(shipped, &args.into)?;
    if json {
        output::print_json(&json!({ "template": shipped.name, "files": written }));
    } else {
        for file in &written {
            output::print_message(&format!("  {file}"));
        }
        output::print_message(&format!("Created {}: {}.", shipped.name, shipped.description));
        if let Some(readme) = written.iter().find(|file| file.ends_with("/README.md")) {
            output::print_message(&format!(
                "Read `{readme}` to learn what it shows and how to run it."
            ));
        }
        output::print_message(
            "Check it with `countersign check`, start it with `countersign run`.",
        );
    }
    Ok(CliExit::Success)
}

/// Finds a shipped protocol by name; the error suggests a similar name.
pub(super) fn find_template(name: &str) -> Result<&'static ShippedProtocol, CliError> {
    find_shipped_protocol(name).ok_or_else(|| {
        let known: Vec<&str> = SHIPPED_PROTOCOLS.iter().map(|one| one.name).collect();
        let near = find_similar_name(name, known.iter().copied())
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        CliError::Usage(format!(
            "unknown template `{name}`{near}; available: {} (`countersign init --list` describes them)",
            known.join(", ")
        ))
    })
}

/// Writes the files of a protocol into a workspace. Never overwrites existing files.
pub(super) fn write_template(
    shipped: &ShippedProtocol,
    folder: &Path,
) -> Result<Vec<String>, CliError> {
    let inside = shipped
        .files
        .iter()
        .map(|(path, text)| (format!(".opencode/protocol/{path}"), text.as_bytes()));
    let beside = shipped.workspace_files.iter().map(|(path, bytes)| ((*path).to_owned(), *bytes));
    let files: Vec<(String, &[u8])> = inside.chain(beside).collect();
    if let Some((taken, _)) = files.iter().find(|(path, _)| folder.join(path).exists()) {
        let taken = folder.join(taken).display().to_string();
        return Err(CliError::Usage(format!("`{taken}` already exists; nothing was written")));
    }
    for (path, bytes) in &files {
        write_file(&folder.join(path), bytes)?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let unwritable = |source| CliError::Unwritable { what: path.display().to_string(), source };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(unwritable)?;
    }
    fs::write(path, bytes).map_err(unwritable)
}
