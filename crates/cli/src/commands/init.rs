//! `countersign init [TEMPLATE]`: puts a shipped protocol into a folder, to be changed.

use std::fs;
use std::path::Path;

use countersign_core::nearest;
use countersign_protocols::{SHIPPED, Shipped, find};
use serde_json::json;

use crate::args::Init;
use crate::exit::{Error, Exit};
use crate::{output, table};

pub(super) fn run(args: &Init, json: bool) -> Result<Exit, Error> {
    if args.list {
        let rows: Vec<[String; 2]> =
            SHIPPED.iter().map(|one| [one.name.to_owned(), one.about.to_owned()]).collect();
        if json {
            output::json(
                &SHIPPED
                    .iter()
                    .map(|one| json!({ "name": one.name, "about": one.about }))
                    .collect(),
            );
        } else {
            output::data(&table::table(["TEMPLATE", "WHAT IT DOES"], &rows));
        }
        return Ok(Exit::Good);
    }
    let shipped = named(&args.template)?;
    let written = put(shipped, &args.into)?;
    if json {
        output::json(&json!({ "template": shipped.name, "files": written }));
    } else {
        for file in &written {
            output::talk(&format!("  {file}"));
        }
        output::talk(&format!("{} is here: {}.", shipped.name, shipped.about));
        output::talk("Look it over with `countersign check`, start it with `countersign run`.");
    }
    Ok(Exit::Good)
}

/// The protocol that ships under a name.
pub(super) fn named(name: &str) -> Result<&'static Shipped, Error> {
    find(name).ok_or_else(|| {
        let known: Vec<&str> = SHIPPED.iter().map(|one| one.name).collect();
        let near = nearest(name, known.iter().copied())
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        Error::Usage(format!("no template `{name}`{near}; there are {}", known.join(", ")))
    })
}

/// Writes the files of a protocol into a folder of work. Nothing that is there is overwritten.
pub(super) fn put(shipped: &Shipped, folder: &Path) -> Result<Vec<String>, Error> {
    let inside = shipped
        .files
        .iter()
        .map(|(path, text)| (format!(".opencode/protocol/{path}"), text.as_bytes()));
    let beside = shipped.beside.iter().map(|(path, bytes)| ((*path).to_owned(), *bytes));
    let files: Vec<(String, &[u8])> = inside.chain(beside).collect();
    if let Some((taken, _)) = files.iter().find(|(path, _)| folder.join(path).exists()) {
        let taken = folder.join(taken).display().to_string();
        return Err(Error::Usage(format!("`{taken}` is there already; nothing was written")));
    }
    for (path, bytes) in &files {
        write(&folder.join(path), bytes)?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let unwritable = |source| Error::Unwritable { what: path.display().to_string(), source };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(unwritable)?;
    }
    fs::write(path, bytes).map_err(unwritable)
}
