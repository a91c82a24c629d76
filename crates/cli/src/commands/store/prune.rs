//! `countersign store prune`: takes the words out of runs that ended long ago, and keeps their hashes.

use countersign_core::protocol::parse_duration;
use countersign_core::run::Time;
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::engine::Engine;
use countersign_runtime::prune::{Done, Old, Plan, plan, prune};
use countersign_runtime::remember::moment;
use countersign_store::TenantId;
use serde_json::{Value, json};

use super::every::{engine, place, tenants};
use crate::args::Prune;
use crate::exit::{Error, Exit};
use crate::house::{NO_RUN, wait};
use crate::show::{BAD, GOOD, HEADING};
use crate::{output, sized::sized, terminal};

pub(super) fn run(args: &Prune, json: bool) -> Result<Exit, Error> {
    let now = SystemClock.now();
    let old = old(args, now)?;
    let place = place(&args.site)?;
    wait(async {
        let store = place.open()?;
        let mut planned: Vec<(TenantId, Engine, Plan)> = Vec::new();
        for tenant in tenants(&store, args.tenant.as_deref()).await? {
            let engine = engine(&store, &tenant);
            let plan = plan(&engine, old, |seen| {
                if seen.is_multiple_of(50) {
                    output::passing(&format!("  {tenant}: {seen} runs looked at"));
                }
            });
            let plan = plan.await?;
            output::passing("");
            if !json {
                tell_plan(&tenant, &plan);
            }
            planned.push((tenant, engine, plan));
        }
        if planned.is_empty() && !json {
            output::talk(NO_RUN);
        }
        let going = planned.iter().map(|(.., plan)| plan.runs.len()).sum::<usize>();
        if args.dry_run || going == 0 {
            if json {
                let told = planned.iter().map(|(tenant, _, plan)| planned_json(tenant, plan));
                output::json(
                    &json!({ "dry_run": args.dry_run, "tenants": told.collect::<Vec<_>>() }),
                );
            }
            return Ok(Exit::Good);
        }
        if !args.yes && !confirmed(going, json).await? {
            output::talk("Nothing was pruned.");
            return Ok(Exit::Refused);
        }
        let mut all = Vec::new();
        for (tenant, engine, plan) in &planned {
            let total = plan.runs.len();
            let done = prune(engine, plan, now, |done| {
                let freed = sized(done.pruned.bytes);
                output::passing(&format!("  {tenant}: {} of {total} runs, {freed}", done.runs));
            });
            let done = done.await?;
            output::passing("");
            if !json {
                tell(tenant, &done);
            }
            all.push((tenant, done));
        }
        let good = all.iter().all(|(_, done)| done.left.is_empty());
        if json {
            let told: Vec<Value> =
                all.iter().map(|(tenant, done)| done_json(tenant, done)).collect();
            output::json(&json!({ "dry_run": false, "tenants": told }));
        }
        Ok(if good { Exit::Good } else { Exit::Refused })
    })
}

/// Which runs are old, by the flags. Nothing is guessed: without a flag that says so, no run is.
fn old(args: &Prune, now: Time) -> Result<Old, Error> {
    if args.before.is_none() && args.keep.is_none() {
        return Err(Error::Usage(
            "which runs? `--before 90d` or `--before 2026-01-21` says when they ended, `--keep 100` how many of the latest stay"
                .to_owned(),
        ));
    }
    let before = args.before.as_deref().map(|text| match parse_duration(text) {
        Some(ago) => Ok(Time(now.0.saturating_sub(ago.millis))),
        None => moment("--before", text).map_err(|fault| {
            Error::Usage(format!("{fault}; a length of time such as `90d` will do too"))
        }),
    });
    Ok(Old { before: before.transpose()?, keep: args.keep.unwrap_or(0) })
}

async fn confirmed(runs: usize, json: bool) -> Result<bool, Error> {
    let nobody = || {
        Error::Usage(
            "nobody is here to confirm it, and nothing was pruned; `--yes` says it beforehand"
                .to_owned(),
        )
    };
    if json {
        return Err(nobody());
    }
    let noun = if runs == 1 { "run" } else { "runs" };
    let question = format!(
        "{BAD}Take the words out of {runs} {noun}, for good?{BAD:#} [yes, or anything else to leave them]"
    );
    let line = terminal::ask(&question).await.ok_or_else(nobody)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn tell_plan(tenant: &TenantId, plan: &Plan) {
    let Plan { runs, all, pruned, awaited, .. } = plan;
    let versions: u64 = runs.iter().map(|doomed| doomed.version).sum();
    let bytes: u64 = runs.iter().map(|doomed| doomed.bytes).sum();
    output::talk(&format!(
        "{HEADING}{tenant}{HEADING:#}: {} of {all} runs go, {versions} versions with {} of log; {pruned} were pruned before",
        runs.len(),
        sized(bytes),
    ));
    for doomed in runs.iter().filter(|doomed| !doomed.forked.is_empty()) {
        let versions: Vec<String> = doomed.forked.iter().map(ToString::to_string).collect();
        output::talk(&format!(
            "  run {} keeps its state at version {}, which others began from",
            doomed.run,
            versions.join(", ")
        ));
    }
    for run in awaited {
        output::talk(&format!(
            "  run {run} stays: it has something left to do, or a run that goes on waits for it"
        ));
    }
}

fn tell(tenant: &TenantId, done: &Done) {
    let Done { runs, pruned, kept, left } = done;
    let mark =
        if left.is_empty() { format!("{GOOD}✓{GOOD:#}") } else { format!("{BAD}✗{BAD:#}") };
    output::talk(&format!(
        "{mark} {HEADING}{tenant}{HEADING:#}: {runs} runs pruned: {} versions, {} snapshots, {} blobs, {}; {kept} states and every hash stay",
        pruned.versions,
        pruned.snapshots,
        pruned.blobs,
        sized(pruned.bytes),
    ));
    for (run, why) in left {
        output::talk(&format!("  {BAD}left{BAD:#}: run {run}: {why}"));
    }
}

fn planned_json(tenant: &TenantId, plan: &Plan) -> Value {
    let runs: Vec<Value> = plan
        .runs
        .iter()
        .map(|doomed| {
            json!({
                "run": doomed.run,
                "versions": doomed.version,
                "bytes": doomed.bytes,
                "keeps": doomed.forked,
            })
        })
        .collect();
    json!({
        "tenant": tenant.as_str(),
        "runs": plan.all,
        "pruned_before": plan.pruned,
        "going": runs,
        "awaited": plan.awaited,
    })
}

fn done_json(tenant: &TenantId, done: &Done) -> Value {
    let left: Vec<Value> =
        done.left.iter().map(|(run, why)| json!({ "run": run, "why": why })).collect();
    json!({
        "tenant": tenant.as_str(),
        "pruned": done.runs,
        "versions": done.pruned.versions,
        "snapshots": done.pruned.snapshots,
        "blobs": done.pruned.blobs,
        "bytes": done.pruned.bytes,
        "kept_states": done.kept,
        "left": left,
    })
}
