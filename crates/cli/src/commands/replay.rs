//! `countersign replay [RUN]`: lists the states of a run; with `--verify`, proves them from the
//! log.

use countersign_contract::json;
use countersign_run::{RunEvent, RunState, fold_entry};
use countersign_runtime::engine::EngineError;
use countersign_store::RunFilter;
use countersign_view::show::input_text;
use countersign_view::wire::{self, VerificationView};
use serde_json::{Value, json};

use crate::args::ReplayArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, DIM, GOOD, HEADING, status_style};
use crate::table::render_table;
use crate::time_format::format_timestamp;

pub(super) fn run(args: &ReplayArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open_existing(&args.store_args)?;
        let runs = match (&args.run, args.all) {
            (_, true) => list_all_runs(&context).await?,
            (named, false) => vec![context.resolve_run(named.as_deref()).await?],
        };
        let mut results = Vec::new();
        let mut good = true;
        for run in &runs {
            let result = if args.verify {
                verify_run(&context, run, json).await?
            } else {
                replay_states(&context, run, json).await?
            };
            good &= result["verified"] != Value::Bool(false);
            results.push(result);
        }
        if json {
            output::print_json(&if args.all { results.into() } else { results.remove(0) });
        } else if args.all && args.verify {
            let held = results.iter().filter(|one| one["verified"] == true).count();
            output::print_message(&format!("{held} of {} runs proved", runs.len()));
        }
        Ok(if good { CliExit::Success } else { CliExit::Refused })
    })
}

/// Lists every run that is not pruned, oldest first.
async fn list_all_runs(context: &CliContext) -> Result<Vec<String>, CliError> {
    let mut filter = RunFilter::newest(context.engine.tenant().clone(), 1_000);
    let (mut runs, mut pruned) = (Vec::new(), 0_u64);
    loop {
        let page = context.engine.store().list_runs(&filter).await?;
        filter.after = page.last().map(countersign_store::RunHead::to_cursor);
        let full = page.len() == filter.limit;
        for head in page {
            if head.pruned.is_some() {
                pruned += 1;
            } else {
                runs.push(head.run.id);
            }
        }
        if !full {
            break;
        }
    }
    if pruned > 0 {
        output::print_message(&format!(
            "skipping {pruned} pruned runs; `countersign store verify` checks their hashes"
        ));
    }
    runs.reverse();
    Ok(runs)
}

async fn verify_run(context: &CliContext, run: &str, json: bool) -> Result<Value, CliError> {
    let proof = wire::verify_and_report(&context.engine, run).await?;
    if !json {
        print_proof(&proof);
    }
    Ok(json!(proof))
}

fn print_proof(proof: &VerificationView) {
    let run = &proof.run;
    if let Some(fault) = &proof.failure {
        output::print_message(&format!(
            "{BAD}not proved{BAD:#}: run {HEADING}{run}{HEADING:#}: {fault}"
        ));
        return;
    }
    output::print_message(&format!(
        "{GOOD}proved{GOOD:#}: run {HEADING}{run}{HEADING:#} matches its log"
    ));
    output::print_message(&format!(
        "  {} events, {} versions decided again in {:.1} ms, {} events per second",
        proof.events.unwrap_or_default(),
        proof.versions.unwrap_or_default(),
        proof.seconds.unwrap_or_default() * 1e3,
        proof.events_per_second.unwrap_or_default(),
    ));
    output::print_message(&format!("  last hash {}", proof.hash.as_deref().unwrap_or_default()));
}

async fn replay_states(context: &CliContext, run: &str, json: bool) -> Result<Value, CliError> {
    let log = context.engine.read_log(run).await?;
    let corrupt = |source| CliError::Engine(EngineError::corrupt(run.to_owned(), source));
    let mut state = RunState::new(run);
    let (mut rows, mut listed) = (Vec::new(), Vec::new());
    for one in log {
        let events = fold_entry(&mut state, &one.body).map_err(corrupt)?;
        let input_text = events.iter().find_map(|event| match event {
            RunEvent::InputReceived { input } => Some(input_text::describe_input(&input.payload)),
            _ => None,
        });
        let input_text = input_text.unwrap_or_default();
        let digest = json::digest_json(&state.document);
        let status = state.status();
        let style = status_style(status);
        let short = digest.strip_prefix("sha256:").and_then(|digest| digest.get(..12));
        rows.push([
            state.version.to_string(),
            format_timestamp(state.updated_at),
            state.phase.clone(),
            format!("{style}{}{style:#}", status.as_str()),
            format!("{DIM}{}{DIM:#}", short.unwrap_or(&digest)),
            input_text,
        ]);
        listed.push(json!({
            "version": state.version,
            "time": state.updated_at,
            "phase": state.phase,
            "status": status.as_str(),
            "document": digest,
            "hash": one.hash,
        }));
    }
    if !json {
        output::print_message(&format!("run {HEADING}{run}{HEADING:#}"));
        let header = ["VERSION", "TIME", "PHASE", "STATUS", "DOCUMENT", "INPUT"];
        output::print_data(&render_table(header, &rows));
    }
    Ok(json!({ "run": run, "states": listed }))
}
