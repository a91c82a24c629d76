//! `countersign store copy FROM TO`: copies every run from one database to another and verifies
//! each.
//!
//! Runs are moved as by `export` and `import`: a run that does not verify is not stored, and a run
//! that already exists is not copied again. At the end, the command compares the heads of each run
//! in both databases.

use std::sync::Arc;

use countersign_run::ExecutionStatus;
use countersign_runtime::transfer::{TransferError, VerifiedRunFile, export_run, import_run};
use countersign_store::{RunHead, Store, TenantId};
use serde_json::{Value, json};

use super::run_pages::{RunPages, list_tenants, open_engine};
use crate::args::StoreCopyArgs;
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, GOOD, HEADING};
use crate::store_location::StoreLocation;

/// The results of copying the runs of a tenant.
#[derive(Debug, Default)]
struct CopyCount {
    copied: u64,
    existing: u64,
    open: u64,
    /// Runs that could not be copied, each with the reason.
    refused: Vec<(String, String)>,
    /// Runs whose heads differ between the two databases at the end.
    diverged: Vec<String>,
}

pub(super) fn run(args: &StoreCopyArgs, json: bool) -> Result<CliExit, CliError> {
    let (source, target) =
        (StoreLocation::parse(&args.source)?, StoreLocation::parse(&args.target)?);
    if !source.exists() {
        return Err(CliError::Usage(format!("no database at `{source}`")));
    }
    if source.to_string() == target.to_string() {
        return Err(CliError::Usage(format!("`{source}` cannot be copied into itself")));
    }
    block_on(async {
        let (from, to) = (source.open_store()?, target.open_store()?);
        let mut counts = Vec::new();
        for tenant in list_tenants(&from, args.tenant.as_deref()).await? {
            let mut count = CopyCount::default();
            copy_tenant(&from, &to, &tenant, &mut count).await?;
            compare_tenant(&from, &to, &tenant, &mut count).await?;
            counts.push((tenant, count));
        }
        let good = counts.iter().all(|(_, count)| count.is_complete());
        if json {
            output::print_json(&counts_to_json(&counts, good));
        } else {
            print_counts(&counts, &source, &target);
        }
        Ok(if good { CliExit::Success } else { CliExit::Refused })
    })
}

async fn copy_tenant(
    from: &Arc<dyn Store>,
    to: &Arc<dyn Store>,
    tenant: &TenantId,
    count: &mut CopyCount,
) -> Result<(), CliError> {
    let (source, target) = (open_engine(from, tenant), open_engine(to, tenant));
    let registry = countersign_shipped_contracts::load_shipped_contracts();
    let mut pages = RunPages::new(tenant);
    loop {
        let page = pages.next_page(from).await?;
        if page.is_empty() {
            return Ok(());
        }
        for head in page {
            if is_same_history(&head, to.load_head(&head.run).await?.as_ref()) {
                count.existing += 1;
            } else {
                let run = &head.run.id;
                let moved = async {
                    let packed = VerifiedRunFile::parse_and_verify(
                        &export_run(&source, run).await?,
                        &registry,
                    )?;
                    import_run(&target, &packed).await
                };
                match moved.await {
                    Ok(_) => count.copied += 1,
                    // The store itself is unavailable, so the remaining runs would fail too.
                    Err(TransferError::Engine(error)) if is_outage(&error) => {
                        return Err(error.into());
                    }
                    Err(refused) => count.refused.push((run.clone(), refused.to_string())),
                }
            }
            let done = count.copied + count.existing;
            if done.is_multiple_of(20) {
                output::print_transient(&format!(
                    "  {tenant}: {done} runs, {} of them new",
                    count.copied
                ));
            }
        }
    }
}

/// Compares the head of each run in both databases after the copy.
async fn compare_tenant(
    from: &Arc<dyn Store>,
    to: &Arc<dyn Store>,
    tenant: &TenantId,
    count: &mut CopyCount,
) -> Result<(), CliError> {
    let mut pages = RunPages::new(tenant);
    loop {
        let page = pages.next_page(from).await?;
        if page.is_empty() {
            output::print_transient("");
            return Ok(());
        }
        for head in page {
            let status =
                ExecutionStatus::ALL.into_iter().find(|status| status.as_str() == head.status);
            let ended = status.is_some_and(ExecutionStatus::is_ended);
            count.open += u64::from(!ended);
            let refused = count.refused.iter().any(|(run, _)| *run == head.run.id);
            if !refused && !is_same_history(&head, to.load_head(&head.run).await?.as_ref()) {
                count.diverged.push(head.run.id);
            }
        }
    }
}

/// The hash covers everything before it, so equal hashes mean equal histories.
fn is_same_history(ours: &RunHead, theirs: Option<&RunHead>) -> bool {
    let position = |head: &RunHead| (head.version, head.seq, head.hash.clone());
    theirs.is_some_and(|theirs| position(ours) == position(theirs))
}

fn is_outage(error: &countersign_runtime::engine::EngineError) -> bool {
    matches!(error, countersign_runtime::engine::EngineError::Store(error) if error.is_transient())
}

impl CopyCount {
    fn is_complete(&self) -> bool {
        self.refused.is_empty() && self.diverged.is_empty()
    }
}

fn print_counts(counts: &[(TenantId, CopyCount)], source: &StoreLocation, target: &StoreLocation) {
    if counts.is_empty() {
        output::print_message(&format!("there are no runs in `{source}`"));
    }
    let mut open = 0;
    for (tenant, count) in counts {
        let CopyCount { copied, existing: known, .. } = count;
        let mark = if count.is_complete() {
            format!("{GOOD}✓{GOOD:#}")
        } else {
            format!("{BAD}✗{BAD:#}")
        };
        output::print_message(&format!(
            "{mark} {HEADING}{tenant}{HEADING:#}: {copied} runs copied, {known} already existed"
        ));
        for (run, why) in &count.refused {
            output::print_message(&format!("  {BAD}not copied{BAD:#}: run {run}: {why}"));
        }
        for run in &count.diverged {
            output::print_message(&format!(
                "  {BAD}different{BAD:#}: run {run} changed during the copy; copy again to include the changes"
            ));
        }
        open += count.open;
    }
    if counts.iter().all(|(_, count)| count.is_complete()) && !counts.is_empty() {
        output::print_message(&format!(
            "every run in `{target}` has the same hash as in `{source}`"
        ));
    }
    if open > 0 {
        output::print_message(&format!(
            "{open} runs are open: work on them in only one of the two databases"
        ));
    }
}

fn counts_to_json(counts: &[(TenantId, CopyCount)], good: bool) -> Value {
    let tenants: Vec<Value> = counts
        .iter()
        .map(|(tenant, count)| {
            let refused: Vec<Value> = count
                .refused
                .iter()
                .map(|(run, why)| json!({ "run": run, "reason": why }))
                .collect();
            json!({
                "tenant": tenant.as_str(),
                "copied": count.copied,
                "existing": count.existing,
                "open": count.open,
                "refused": refused,
                "diverged": count.diverged,
            })
        })
        .collect();
    json!({ "ok": good, "tenants": tenants })
}
