//! `countersign store prune`: removes the content of runs that ended long ago and keeps their
//! hashes.

use countersign_protocol::parse_duration;
use countersign_run::Timestamp;
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::engine::Engine;
use countersign_runtime::memory_context::parse_time;
use countersign_runtime::prune::{PruneCriteria, PruneOutcome, PrunePlan, plan_prune, prune_runs};
use countersign_store::TenantId;
use serde_json::{Value, json};

use super::run_pages::{list_tenants, open_engine, resolve_location};
use crate::args::StorePruneArgs;
use crate::context::{NO_RUN_MESSAGE, block_on};
use crate::exit::{CliError, CliExit};
use crate::render::{BAD, GOOD, HEADING};
use crate::{byte_format::format_bytes, output, terminal};

pub(super) fn run(args: &StorePruneArgs, json: bool) -> Result<CliExit, CliError> {
    let now = SystemClock.now();
    let old = parse_prune_criteria(args, now)?;
    let location = resolve_location(&args.store_args)?;
    block_on(async {
        let store = location.open_store()?;
        let mut planned: Vec<(TenantId, Engine, PrunePlan)> = Vec::new();
        for tenant in list_tenants(&store, args.tenant.as_deref()).await? {
            let engine = open_engine(&store, &tenant);
            let plan = plan_prune(&engine, old, |seen| {
                if seen.is_multiple_of(50) {
                    output::print_transient(&format!("  {tenant}: {seen} runs checked"));
                }
            });
            let plan = plan.await?;
            output::print_transient("");
            if !json {
                print_plan(&tenant, &plan);
            }
            planned.push((tenant, engine, plan));
        }
        if planned.is_empty() && !json {
            output::print_message(NO_RUN_MESSAGE);
        }
        let going = planned.iter().map(|(.., plan)| plan.runs.len()).sum::<usize>();
        if args.dry_run || going == 0 {
            if json {
                let rows = planned.iter().map(|(tenant, _, plan)| plan_to_json(tenant, plan));
                output::print_json(
                    &json!({ "dry_run": args.dry_run, "tenants": rows.collect::<Vec<_>>() }),
                );
            }
            return Ok(CliExit::Success);
        }
        if !args.yes && !confirm_prune(going, json).await? {
            output::print_message("Nothing was pruned.");
            return Ok(CliExit::Refused);
        }
        let mut all = Vec::new();
        for (tenant, engine, plan) in &planned {
            let total = plan.runs.len();
            let done = prune_runs(engine, plan, now, |done| {
                let freed = format_bytes(done.removed.bytes);
                output::print_transient(&format!(
                    "  {tenant}: {} of {total} runs, {freed}",
                    done.runs
                ));
            });
            let done = done.await?;
            output::print_transient("");
            if !json {
                print_result(tenant, &done);
            }
            all.push((tenant, done));
        }
        let good = all.iter().all(|(_, done)| done.skipped.is_empty());
        if json {
            let rows: Vec<Value> =
                all.iter().map(|(tenant, done)| result_to_json(tenant, done)).collect();
            output::print_json(&json!({ "dry_run": false, "tenants": rows }));
        }
        Ok(if good { CliExit::Success } else { CliExit::Refused })
    })
}

/// Returns the prune criteria from the flags. There is no default: without a flag, no run
/// qualifies.
fn parse_prune_criteria(args: &StorePruneArgs, now: Timestamp) -> Result<PruneCriteria, CliError> {
    if args.before.is_none() && args.keep.is_none() {
        return Err(CliError::Usage(
            "missing `--before` or `--keep`; `--before 90d` or `--before 2026-01-21` prunes runs that ended before then, `--keep 100` keeps the newest 100"
                .to_owned(),
        ));
    }
    let before = args.before.as_deref().map(|text| match parse_duration(text) {
        Some(ago) => Ok(Timestamp(now.0.saturating_sub(ago.millis))),
        None => parse_time("--before", text).map_err(|fault| {
            CliError::Usage(format!("{fault}; a duration such as `90d` is also accepted"))
        }),
    });
    Ok(PruneCriteria { ended_before: before.transpose()?, keep_newest: args.keep.unwrap_or(0) })
}

async fn confirm_prune(runs: usize, json: bool) -> Result<bool, CliError> {
    let nobody = || {
        CliError::Usage(
            "cannot ask for confirmation, so nothing was pruned; use `--yes` to confirm".to_owned(),
        )
    };
    if json {
        return Err(nobody());
    }
    let noun = if runs == 1 { "run" } else { "runs" };
    let question = format!("{BAD}Permanently remove the content of {runs} {noun}?{BAD:#} [y/N]");
    let line = terminal::prompt_line(&question).await.ok_or_else(nobody)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn print_plan(tenant: &TenantId, plan: &PrunePlan) {
    let PrunePlan { runs, total_runs: all, already_pruned: pruned, still_needed: awaited, .. } =
        plan;
    let versions: u64 = runs.iter().map(|doomed| doomed.version).sum();
    let bytes: u64 = runs.iter().map(|doomed| doomed.bytes).sum();
    output::print_message(&format!(
        "{HEADING}{tenant}{HEADING:#}: {} of {all} runs to prune: {versions} versions with {} of log; {pruned} already pruned",
        runs.len(),
        format_bytes(bytes),
    ));
    for doomed in runs.iter().filter(|doomed| !doomed.forked_versions.is_empty()) {
        let versions: Vec<String> =
            doomed.forked_versions.iter().map(ToString::to_string).collect();
        output::print_message(&format!(
            "  run {} keeps its state at version {}, which other runs started from",
            doomed.run,
            versions.join(", ")
        ));
    }
    for run in awaited {
        output::print_message(&format!(
            "  run {run} is kept: it has unfinished work, or an open run waits for it"
        ));
    }
}

fn print_result(tenant: &TenantId, done: &PruneOutcome) {
    let PruneOutcome { runs, removed: pruned, kept_snapshots: kept, skipped: left } = done;
    let mark =
        if left.is_empty() { format!("{GOOD}✓{GOOD:#}") } else { format!("{BAD}✗{BAD:#}") };
    output::print_message(&format!(
        "{mark} {HEADING}{tenant}{HEADING:#}: {runs} runs pruned: {} versions, {} snapshots, {} blobs, {}; {kept} states and every hash are kept",
        pruned.versions,
        pruned.snapshots,
        pruned.blobs,
        format_bytes(pruned.bytes),
    ));
    for (run, why) in left {
        output::print_message(&format!("  {BAD}not pruned{BAD:#}: run {run}: {why}"));
    }
}

fn plan_to_json(tenant: &TenantId, plan: &PrunePlan) -> Value {
    let runs: Vec<Value> = plan
        .runs
        .iter()
        .map(|doomed| {
            json!({
                "run": doomed.run,
                "versions": doomed.version,
                "bytes": doomed.bytes,
                "kept_versions": doomed.forked_versions,
            })
        })
        .collect();
    json!({
        "tenant": tenant.as_str(),
        "runs": plan.total_runs,
        "already_pruned": plan.already_pruned,
        "to_prune": runs,
        "still_needed": plan.still_needed,
    })
}

fn result_to_json(tenant: &TenantId, done: &PruneOutcome) -> Value {
    let left: Vec<Value> =
        done.skipped.iter().map(|(run, why)| json!({ "run": run, "reason": why })).collect();
    json!({
        "tenant": tenant.as_str(),
        "pruned": done.runs,
        "versions": done.removed.versions,
        "snapshots": done.removed.snapshots,
        "blobs": done.removed.blobs,
        "bytes": done.removed.bytes,
        "kept_snapshots": done.kept_snapshots,
        "skipped": left,
    })
}
