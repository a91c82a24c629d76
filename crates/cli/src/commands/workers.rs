//! `countersign workers`: who works, and what they hold.

use std::collections::BTreeMap;

use countersign_core::run::Time;
use countersign_server::wire::workers;
use countersign_store::{Lease, WorkerRow};
use serde_json::json;

use crate::args::Workers;
use crate::elapsed;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::output;
use crate::show::HEADING;
use crate::table::table;

/// What is said where nobody works.
const NOBODY: &str = "nobody is at work; `countersign worker` starts a worker";

/// How many leases are looked at.
const MOST: usize = 100_000;

pub(super) fn run(args: &Workers, json: bool) -> Result<Exit, Error> {
    wait(async {
        let Some(house) = House::find(&args.site)? else {
            if json {
                output::json(&json!([]));
            } else {
                output::talk(NOBODY);
            }
            return Ok(Exit::Good);
        };
        let (store, now) = (house.engine.store(), house.engine.clock().now());
        if json {
            output::json(&json!(workers(&**store, now.0).await?));
            return Ok(Exit::Good);
        }
        let announced = store.workers(now.0).await?;
        let mut held: BTreeMap<String, Vec<Lease>> = BTreeMap::new();
        for lease in store.held(now.0, MOST).await? {
            held.entry(lease.worker.clone()).or_default().push(lease);
        }
        tell(&announced, &held, now);
        Ok(Exit::Good)
    })
}

fn tell(workers: &[WorkerRow], held: &BTreeMap<String, Vec<Lease>>, now: Time) {
    let announced = |name: &String| workers.iter().any(|row| row.worker.name == *name);
    // A command that drives a run holds it too, and does not announce itself.
    let commands = held.iter().filter(|(name, _)| !announced(name));
    let mut rows: Vec<[String; 6]> = workers.iter().map(|row| line(row, now)).collect();
    rows.extend(commands.map(|(name, leases)| {
        let (name, holds) = (format!("{HEADING}{name}{HEADING:#}"), leases.len().to_string());
        let none = || "–".to_owned();
        [name, none(), holds, none(), none(), "a command".to_owned()]
    }));
    if rows.is_empty() {
        output::talk(NOBODY);
        return;
    }
    output::data(&table(["WORKER", "HOST", "HOLDS", "OF", "SINCE", "SEEN"], &rows));
}

fn line(row: &WorkerRow, now: Time) -> [String; 6] {
    let WorkerRow { worker, seen_at, until, holds } = row;
    let seen = elapsed::ago(now, Time(*seen_at));
    [
        format!("{HEADING}{}{HEADING:#}", worker.name),
        format!("{}:{}", worker.host, worker.pid),
        holds.to_string(),
        worker.capacity.to_string(),
        elapsed::ago(now, Time(worker.started_at)),
        if *until <= now.0 { format!("lost, last seen {seen}") } else { seen },
    ]
}
