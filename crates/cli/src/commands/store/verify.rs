//! `countersign store verify`: the chain of every run, tenant by tenant.

use std::sync::Arc;

use countersign_runtime::engine::{Engine, EngineError};
use countersign_runtime::proof::{Chained, chained, prove};
use countersign_store::{Store, StoreError, TenantId};
use serde_json::{Value, json};

use super::every::{Pages, engine, place, tenants};
use crate::args::Verify;
use crate::exit::{Error, Exit};
use crate::house::{NO_RUN, wait};
use crate::output;
use crate::show::{BAD, GOOD, HEADING};

/// What was found of a tenant.
#[derive(Debug, Default)]
struct Found {
    runs: u64,
    events: u64,
    /// Runs of which only hashes are left.
    pruned: u64,
    faults: Vec<(String, String)>,
}

pub(super) fn run(args: &Verify, json: bool) -> Result<Exit, Error> {
    let place = place(&args.site)?;
    wait(async {
        let store = place.open()?;
        let mut all = Vec::new();
        for tenant in tenants(&store, args.tenant.as_deref()).await? {
            let found = examine(&store, &tenant, args.decide).await?;
            if !json {
                tell(&tenant, &found);
            }
            all.push((tenant, found));
        }
        let good = all.iter().all(|(_, found)| found.faults.is_empty());
        if json {
            output::json(&told_to_programs(&all, good));
        } else if all.is_empty() {
            output::talk(NO_RUN);
        }
        Ok(if good { Exit::Good } else { Exit::Refused })
    })
}

async fn examine(store: &Arc<dyn Store>, tenant: &TenantId, decide: bool) -> Result<Found, Error> {
    let engine = engine(store, tenant);
    let (mut pages, mut found) = (Pages::of(tenant), Found::default());
    loop {
        let page = pages.next(store).await?;
        if page.is_empty() {
            output::passing("");
            return Ok(found);
        }
        for head in page {
            // What was pruned cannot be decided again.
            let decide = decide && head.pruned.is_none();
            match proof(&engine, &head.run.id, decide).await? {
                Ok(Chained { events, pruned }) => {
                    found.events += events;
                    found.pruned += u64::from(pruned);
                }
                Err(fault) => found.faults.push((head.run.id, fault)),
            }
            found.runs += 1;
            if found.runs.is_multiple_of(50) {
                output::passing(&format!(
                    "  {tenant}: {} runs, {} events",
                    found.runs, found.events
                ));
            }
        }
    }
}

/// What a run that holds has, or what does not.
async fn proof(engine: &Engine, run: &str, decide: bool) -> Result<Result<Chained, String>, Error> {
    let proved = if decide {
        let chained = |events| Chained { events, pruned: false };
        prove(engine, run).await.map(|proved| proved.map(|proof| chained(proof.events)))
    } else {
        chained(engine, run).await
    };
    match proved {
        Ok(proved) => Ok(proved.map_err(|flaw| flaw.to_string())),
        Err(
            error @ (EngineError::Protocol { .. }
            | EngineError::Corrupt { .. }
            | EngineError::Store(StoreError::Corrupt { .. })),
        ) => Ok(Err(error.to_string())),
        Err(other) => Err(other.into()),
    }
}

fn tell(tenant: &TenantId, found: &Found) {
    let Found { runs, events, pruned, faults } = found;
    let held = runs - faults.len() as u64;
    let mark =
        if faults.is_empty() { format!("{GOOD}✓{GOOD:#}") } else { format!("{BAD}✗{BAD:#}") };
    output::talk(&format!(
        "{mark} {HEADING}{tenant}{HEADING:#}: {held} of {runs} chains hold, {events} events"
    ));
    if *pruned > 0 {
        output::talk(&format!(
            "  {pruned} were pruned: their hashes are those that were proved and sealed then"
        ));
    }
    for (run, fault) in faults {
        output::talk(&format!("  {BAD}broken{BAD:#}: run {run}: {fault}"));
    }
}

fn told_to_programs(all: &[(TenantId, Found)], good: bool) -> Value {
    let tenants: Vec<Value> = all
        .iter()
        .map(|(tenant, found)| {
            let faults: Vec<Value> = found
                .faults
                .iter()
                .map(|(run, fault)| json!({ "run": run, "fault": fault }))
                .collect();
            json!({
                "tenant": tenant.as_str(),
                "runs": found.runs,
                "events": found.events,
                "pruned": found.pruned,
                "faults": faults,
            })
        })
        .collect();
    json!({ "good": good, "tenants": tenants })
}
