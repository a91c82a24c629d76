//! `countersign store verify`: verifies the hash chain of every run, tenant by tenant.

use std::sync::Arc;

use countersign_runtime::engine::{Engine, EngineError};
use countersign_runtime::integrity::{ChainVerification, verify_stored_chain, verify_stored_run};
use countersign_store::{Store, StoreError, TenantId};
use serde_json::{Value, json};

use super::run_pages::{RunPages, list_tenants, open_engine, resolve_location};
use crate::args::StoreVerifyArgs;
use crate::context::{NO_RUN_MESSAGE, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, GOOD, HEADING};

/// The verification results of a tenant.
#[derive(Debug, Default)]
struct TenantVerification {
    runs: u64,
    events: u64,
    /// The number of runs of which only hashes remain.
    pruned: u64,
    faults: Vec<(String, String)>,
}

pub(super) fn run(args: &StoreVerifyArgs, json: bool) -> Result<CliExit, CliError> {
    let location = resolve_location(&args.store_args)?;
    block_on(async {
        let store = location.open_store()?;
        let mut all = Vec::new();
        for tenant in list_tenants(&store, args.tenant.as_deref()).await? {
            let found = verify_tenant(&store, &tenant, args.decide).await?;
            if !json {
                print_tenant(&tenant, &found);
            }
            all.push((tenant, found));
        }
        let good = all.iter().all(|(_, found)| found.faults.is_empty());
        if json {
            output::print_json(&results_to_json(&all, good));
        } else if all.is_empty() {
            output::print_message(NO_RUN_MESSAGE);
        }
        Ok(if good { CliExit::Success } else { CliExit::Refused })
    })
}

async fn verify_tenant(
    store: &Arc<dyn Store>,
    tenant: &TenantId,
    decide: bool,
) -> Result<TenantVerification, CliError> {
    let engine = open_engine(store, tenant);
    let (mut pages, mut found) = (RunPages::new(tenant), TenantVerification::default());
    loop {
        let page = pages.next_page(store).await?;
        if page.is_empty() {
            output::print_transient("");
            return Ok(found);
        }
        for head in page {
            // The inputs of a pruned run cannot be decided again.
            let decide = decide && head.pruned.is_none();
            match verify_run(&engine, &head.run.id, decide).await? {
                Ok(ChainVerification { events, pruned }) => {
                    found.events += events;
                    found.pruned += u64::from(pruned);
                }
                Err(fault) => found.faults.push((head.run.id, fault)),
            }
            found.runs += 1;
            if found.runs.is_multiple_of(50) {
                output::print_transient(&format!(
                    "  {tenant}: {} runs, {} events",
                    found.runs, found.events
                ));
            }
        }
    }
}

/// Returns the verified counts of a run, or the reason why it does not verify.
async fn verify_run(
    engine: &Engine,
    run: &str,
    decide: bool,
) -> Result<Result<ChainVerification, String>, CliError> {
    let proved = if decide {
        let chained = |events| ChainVerification { events, pruned: false };
        verify_stored_run(engine, run).await.map(|proved| proved.map(|proof| chained(proof.events)))
    } else {
        verify_stored_chain(engine, run).await
    };
    match proved {
        Ok(proved) => Ok(proved.map_err(|flaw| flaw.to_string())),
        Err(
            error @ (EngineError::ProtocolUnavailable { .. }
            | EngineError::Corrupt { .. }
            | EngineError::Store(StoreError::Corrupt { .. })),
        ) => Ok(Err(error.to_string())),
        Err(other) => Err(other.into()),
    }
}

fn print_tenant(tenant: &TenantId, found: &TenantVerification) {
    let TenantVerification { runs, events, pruned, faults } = found;
    let held = runs - faults.len() as u64;
    let mark =
        if faults.is_empty() { format!("{GOOD}✓{GOOD:#}") } else { format!("{BAD}✗{BAD:#}") };
    output::print_message(&format!(
        "{mark} {HEADING}{tenant}{HEADING:#}: {held} of {runs} chains are valid, {events} events"
    ));
    if *pruned > 0 {
        output::print_message(&format!(
            "  {pruned} were pruned: their hashes match those that were verified and sealed then"
        ));
    }
    for (run, fault) in faults {
        output::print_message(&format!("  {BAD}broken{BAD:#}: run {run}: {fault}"));
    }
}

fn results_to_json(all: &[(TenantId, TenantVerification)], good: bool) -> Value {
    let tenants: Vec<Value> = all
        .iter()
        .map(|(tenant, found)| {
            let faults: Vec<Value> = found
                .faults
                .iter()
                .map(|(run, fault)| json!({ "run": run, "failure": fault }))
                .collect();
            json!({
                "tenant": tenant.as_str(),
                "runs": found.runs,
                "events": found.events,
                "pruned": found.pruned,
                "failures": faults,
            })
        })
        .collect();
    json!({ "ok": good, "tenants": tenants })
}
