//! `countersign workers`: lists the workers and the leases they hold.

use std::collections::BTreeMap;

use countersign_run::Timestamp;
use countersign_store::{Lease, WorkerRow};
use countersign_view::wire::load_workers;
use serde_json::json;

use crate::args::WorkersArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::HEADING;
use crate::table::render_table;
use crate::time_format;

/// The message if there is no worker.
const NO_WORKERS_MESSAGE: &str = "no worker is running; start one with `countersign worker`";

/// The maximum number of leases to load.
const MAX_LEASES: usize = 100_000;

pub(super) fn run(args: &WorkersArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let Some(context) = CliContext::find(&args.store_args)? else {
            if json {
                output::print_json(&json!([]));
            } else {
                output::print_message(NO_WORKERS_MESSAGE);
            }
            return Ok(CliExit::Success);
        };
        let (store, now) = (context.engine.store(), context.engine.clock().now());
        if json {
            output::print_json(&json!(load_workers(&**store, now.0).await?));
            return Ok(CliExit::Success);
        }
        let announced = store.list_workers(now.0).await?;
        let mut held: BTreeMap<String, Vec<Lease>> = BTreeMap::new();
        for lease in store.list_leases(now.0, MAX_LEASES).await? {
            held.entry(lease.worker.clone()).or_default().push(lease);
        }
        print_workers(&announced, &held, now);
        Ok(CliExit::Success)
    })
}

fn print_workers(workers: &[WorkerRow], held: &BTreeMap<String, Vec<Lease>>, now: Timestamp) {
    let announced = |name: &String| workers.iter().any(|row| row.info.name == *name);
    // A command that drives a run holds a lease too, but does not register as a worker.
    let commands = held.iter().filter(|(name, _)| !announced(name));
    let mut rows: Vec<[String; 6]> = workers.iter().map(|row| format_worker(row, now)).collect();
    rows.extend(commands.map(|(name, leases)| {
        let (name, holds) = (format!("{HEADING}{name}{HEADING:#}"), leases.len().to_string());
        let none = || "–".to_owned();
        [name, none(), holds, none(), none(), "a command".to_owned()]
    }));
    if rows.is_empty() {
        output::print_message(NO_WORKERS_MESSAGE);
        return;
    }
    output::print_data(&render_table(
        ["WORKER", "HOST", "RUNS", "CAPACITY", "STARTED", "SEEN"],
        &rows,
    ));
}

fn format_worker(row: &WorkerRow, now: Timestamp) -> [String; 6] {
    let WorkerRow { info: worker, seen_at, expires_at: until, lease_count: holds } = row;
    let seen = time_format::format_ago(now, Timestamp(*seen_at));
    [
        format!("{HEADING}{}{HEADING:#}", worker.name),
        format!("{}:{}", worker.host, worker.pid),
        holds.to_string(),
        worker.capacity.to_string(),
        time_format::format_ago(now, Timestamp(worker.started_at)),
        if *until <= now.0 { format!("lost, last seen {seen}") } else { seen },
    ]
}
