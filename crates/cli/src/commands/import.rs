//! `countersign import FILE`: a run out of a file, after it has proved itself.

use std::fs;
use std::io::Read as _;
use std::sync::Arc;

use countersign_runtime::transfer::{Imported, Packed, import};
use countersign_runtime::watch::Unwatched;
use serde_json::json;

use crate::args::Import;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::output;
use crate::show::GOOD;

pub(super) fn run(args: &Import, json: bool) -> Result<Exit, Error> {
    let shown = args.file.display().to_string();
    let unreadable = |source| Error::Unreadable { what: shown.clone(), source };
    let text = if args.file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
        text
    } else {
        fs::read_to_string(&args.file).map_err(unreadable)?
    };
    // Proved before a folder or a database is made for it.
    let packed = Packed::read(&text, &countersign_contracts::registry())?;
    wait(async {
        let house = House::open(&args.site, None, Arc::new(Unwatched))?;
        let imported = import(&house.engine, &packed).await?;
        let (run, versions) = (&packed.run, packed.proof.versions);
        let (word, told) = match &imported {
            Imported::New => ("new", format!("run {run} is here now, with {versions} versions")),
            Imported::Completed { from } => {
                ("completed", format!("run {run} went on from version {from} to {versions}"))
            }
            Imported::Same => {
                ("same", format!("run {run} was here already, with the same history"))
            }
            Imported::Behind { here } => (
                "behind",
                format!("run {run} was here already, and has gone on since to version {here}"),
            ),
        };
        if json {
            output::json(&json!({
                "run": run,
                "outcome": word,
                "versions": versions,
                "events": packed.proof.events,
                "hash": packed.proof.hash,
            }));
        } else {
            output::talk(&format!(
                "{GOOD}proved{GOOD:#}: {} events, last hash {}",
                packed.proof.events, packed.proof.hash
            ));
            output::talk(&told);
        }
        Ok(Exit::Good)
    })
}
