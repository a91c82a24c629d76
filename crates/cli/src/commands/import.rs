//! `countersign import FILE`: a run out of a file, after it has proved itself.

use std::fs;
use std::io::Read as _;
use std::sync::Arc;

use countersign_runtime::transfer::{ImportHalt, Imported, Packed, import, import_halted};
use countersign_runtime::trust::{Permissions, model_server};
use countersign_runtime::watch::Unwatched;
use countersign_server::catalog::shipped_permissions;
use serde_json::json;

use super::trust::{trust_model, trust_protocol};
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
        let permissions = Permissions::from_protocol(&packed.protocol);
        let listed = !permissions.is_empty()
            && !shipped_permissions(&packed.protocol.name).contains(&permissions);
        if listed && args.trust {
            trust_protocol(&house, &packed.protocol)?;
        }
        let mut wants = if listed { permissions.describe() } else { Vec::new() };
        // Whoever started the run chose its model; whoever imports it did not.
        let server = packed.proof.state.model.as_deref().and_then(model_server);
        wants.extend(server.map(|server| format!("model server {server}, as it was started")));
        if let (true, Some(model)) = (args.trust, &packed.proof.state.model) {
            trust_model(&house, model)?;
        }
        let halted = !wants.is_empty() && !args.trust;
        let imported = if halted {
            let run = &packed.run;
            let reason = format!(
                "it was imported, and wants more than files; \
                 `countersign trust --run {run}` shows what and asks, then `countersign resume {run}`"
            );
            let halt = ImportHalt { by: house.settings.user(), reason };
            import_halted(&house.engine, &packed, &halt).await?
        } else {
            import(&house.engine, &packed).await?
        };
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
                "wants": wants,
                "halted": house.engine.look(run).await?.state.halted.is_some(),
            }));
        } else {
            output::talk(&format!(
                "{GOOD}proved{GOOD:#}: {} events, last hash {}",
                packed.proof.events, packed.proof.hash
            ));
            output::talk(&told);
            if !wants.is_empty() {
                output::talk("It wants more than files:");
                for line in &wants {
                    output::talk(&format!("  {line}"));
                }
            }
            if halted && house.engine.look(run).await?.state.halted.is_some() {
                output::talk(&format!(
                    "It is halted. Trust that with `countersign trust --run {run}`, then `countersign resume {run}`."
                ));
            }
        }
        Ok(Exit::Good)
    })
}
