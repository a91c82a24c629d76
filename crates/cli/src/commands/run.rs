//! `countersign run [WORKFLOW]`: starts a run and drives it until it is idle, asking in the
//! terminal.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::Protocol;
use countersign_run::{ExecutionStatus, PendingAction, RunStart, RunState};
use countersign_runtime::driver::{ChangeSnapshot, Driver, IdleReason};
use countersign_runtime::engine::EngineError;
use countersign_runtime::run_observer::{NoopRunObserver, RunObserver};
use countersign_view::show::{RunOutputView, collect_outputs};
use countersign_view::wire::RunResultView;
use serde_json::json;

use super::lease_holder::describe_lease_holder;
use super::start::start_run;
use super::{prompts, trust};
use crate::args::RunArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::progress::ProgressPrinter;
use crate::signals::TerminationSignals;
use crate::{output, render, run_outputs};

pub(super) fn run(args: &RunArgs, json: bool) -> Result<CliExit, CliError> {
    let quiet = json || args.queue;
    let watch: Arc<dyn RunObserver> =
        if quiet { Arc::new(NoopRunObserver) } else { Arc::new(ProgressPrinter::default()) };
    block_on(async {
        let model = args.model.as_deref();
        let remembers = !args.no_memory;
        let context = if args.queue {
            CliContext::open_for_workers(&args.store_args, model, watch, remembers)?
        } else {
            CliContext::open_with_memory(&args.store_args, model, watch, remembers)?
        };
        trust::trust_own_model(&context)?;
        let talks = !json && !args.detach;
        let manner = match (args.follow, talks) {
            (true, _) => InteractionMode::Following,
            (false, true) => InteractionMode::Interactive,
            (false, false) => InteractionMode::Detached,
        };
        let run = match &args.resume {
            Some(named) => {
                let run = context.resolve_run(Some(named)).await?;
                if let Some(model) = &args.model {
                    select_model(&context, &run, model).await?;
                }
                run
            }
            None => start_run(&context, args, talks).await?,
        };
        if talks {
            trust::confirm_run_protocol(&context, &run).await?;
        }
        if args.queue {
            return report_queued_run(&context, &run, json).await;
        }
        drive_run(&context, &run, manner, json).await
    })
}

/// Lets a run and the runs that it waits for continue with another model.
async fn select_model(context: &CliContext, run: &str, model: &str) -> Result<(), CliError> {
    let (by, sender) = (context.settings.user(), context.settings.sender());
    let mut left = vec![run.to_owned()];
    while let Some(next) = left.pop() {
        let state = match context.engine.get_run(&next).await {
            Ok(outcome) => outcome.state,
            // A child that is requested and not yet started takes the model of its parent.
            Err(EngineError::RunNotFound { .. }) if next != run => continue,
            Err(other) => return Err(other.into()),
        };
        left.extend(state.pending.values().filter_map(|action| match action {
            PendingAction::Child { run, .. } => Some(run.clone()),
            _ => None,
        }));
        if state.model.as_deref() == Some(model) && state.blocked.is_none() && state.end.is_none() {
            continue;
        }
        match context.engine.select_model(&next, model, &by, Some(sender.clone())).await {
            // The child has just ended, and its parent continues.
            Err(EngineError::Rejected(_)) if next != run => {}
            selected => drop(selected?),
        }
    }
    Ok(())
}

/// Reports that a new run is left to the workers, if it has work to do.
async fn report_queued_run(
    context: &CliContext,
    run: &str,
    json: bool,
) -> Result<CliExit, CliError> {
    let (store, now) = (context.engine.store(), context.engine.clock().now());
    let state = context.engine.get_run(run).await?.state;
    let due = store.load_head(&context.engine.run_id(run)).await?.and_then(|head| head.wake_at);
    let workers = store.list_workers(now.0).await?;
    let alive = workers.iter().filter(|row| row.expires_at > now.0).count();
    if json {
        output::print_json(&json!({
            "run": run,
            "status": state.status().as_str(),
            "phase": state.phase,
            "version": state.version,
            "wake_at": due,
            "workers": alive,
        }));
    } else if due.is_some() {
        let who = match alive {
            0 => "no worker is running; start one with `countersign worker`".to_owned(),
            1 => "1 worker is running".to_owned(),
            several => format!("{several} workers are running"),
        };
        output::print_message(&format!("run {run} is queued for workers: {who}"));
    } else {
        output::print_message(&render::format_run_status(&state));
        for wait in state.waits.values() {
            output::print_message(&render::format_wait(run, wait));
        }
    }
    Ok(CliExit::Success)
}

/// What to do when a run becomes idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InteractionMode {
    /// Leaves the run as it is.
    Detached,
    /// Asks the user at the terminal.
    Interactive,
    /// Asks the user at the terminal, and also waits for external changes.
    Following,
}

/// Creates a run under a new name.
pub(super) async fn create_run(
    context: &CliContext,
    protocol: &Arc<Protocol>,
    start: RunStart,
    key: Option<String>,
) -> Result<String, CliError> {
    Ok(context.engine.start_run(protocol, start, key).await?)
}

/// The exit code after Ctrl-C, following the shell convention.
const EXIT_INTERRUPTED: i32 = 130;

/// Drives a run until it ends, or until it waits for someone who is not at this terminal.
pub(super) async fn drive_run(
    context: &CliContext,
    run: &str,
    manner: InteractionMode,
    json: bool,
) -> Result<CliExit, CliError> {
    let driver = context.build_driver()?;
    let mut signals = TerminationSignals::listen();
    let rest = tokio::select! {
        rest = drive_until_idle(context, &driver, run, manner) => rest?,
        () = signals.recv() => {
            // Releasing the lease shows that no worker died on this run. If the store is
            // unavailable, the lease expires on its own.
            drop(driver.release_leases().await);
            // A pending question at the terminal would keep the process alive until it is answered.
            std::process::exit(EXIT_INTERRUPTED)
        }
    };
    let outcome = context.engine.get_run(run).await?;
    let state = &outcome.state;
    let products = collect_outputs(&context.engine, run).await?;
    if json {
        output::print_json(&json!(RunResultView::from_state(state, products)));
    } else {
        let holder = describe_lease_holder(context, run, &rest).await?;
        print_outcome(state, &rest, holder.as_deref(), &products);
    }
    Ok(if state.status() == ExecutionStatus::Failed { CliExit::Refused } else { CliExit::Success })
}

async fn drive_until_idle(
    context: &CliContext,
    driver: &Driver,
    run: &str,
    manner: InteractionMode,
) -> Result<IdleReason, CliError> {
    let mut shown = String::new();
    let mut followed = None;
    loop {
        let (rest, seen) = drive_and_snapshot(driver, run).await?;
        if manner == InteractionMode::Detached
            || matches!(rest, IdleReason::Ended(_) | IdleReason::Halted | IdleReason::Parked)
        {
            return Ok(rest);
        }
        if let Some(holder) = describe_lease_holder(context, run, &rest).await? {
            if followed.as_ref() != Some(&holder) {
                output::print_message(&format!("  {holder}; following it, press Ctrl-C to leave"));
                followed = Some(holder);
            }
            // A dead worker causes no change: its lease expires, and this process takes over.
            tokio::select! {
                changed = driver.wait_for_change(run, &seen) => changed?,
                () = tokio::time::sleep(RECHECK_INTERVAL) => {}
            }
            continue;
        }
        let state = context.engine.get_run(run).await?.state;
        let alarm = match rest {
            IdleReason::WaitingUntil(at) => Some(at.millis_since(context.engine.clock().now())),
            _ => None,
        };
        if alarm.is_some_and(|pause| pause > 0)
            && let IdleReason::WaitingUntil(at) = rest
        {
            output::print_message(&format!(
                "  waiting until {at}; press Ctrl-C to leave, continue with `countersign run --resume {run}`"
            ));
        }
        let stays = manner == InteractionMode::Following;
        if stays {
            let waits = format_open_waits(context, &state).await?;
            if waits != shown {
                output::print_message(&waits);
                shown = waits;
            }
        }
        let prompted = async {
            match (&rest, alarm) {
                (_, Some(pause)) => {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                    Ok(true)
                }
                // The waits of a child are asked here too, because its parent was started at this
                // terminal.
                (IdleReason::WaitingForInput | IdleReason::WaitingForChild(_), None) => {
                    prompt_run_or_children(context, driver, &state).await
                }
                _ => Ok(false),
            }
        };
        // While a question is open here, a document may arrive or someone may answer it elsewhere.
        tokio::select! {
            biased;
            moved = prompted => match moved? {
                true => {}
                false if stays => driver.wait_for_change(run, &seen).await?,
                false => return Ok(rest),
            },
            changed = driver.wait_for_change(run, &seen) => {
                changed?;
                output::print_message("");
            }
        }
    }
}

/// How often to check whether a run that another process drives is free.
const RECHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Drives a run until the snapshots before and after agree, so that every later change is noticed.
async fn drive_and_snapshot(
    driver: &Driver,
    run: &str,
) -> Result<(IdleReason, ChangeSnapshot), CliError> {
    let mut before = driver.take_change_snapshot(run).await?;
    loop {
        let rest = driver.drive(run).await?;
        let after = driver.take_change_snapshot(run).await?;
        if after == before || rest == IdleReason::LeasedElsewhere {
            return Ok((rest, after));
        }
        before = after;
    }
}

/// Asks for the waits of a run and its children; returns whether the user answered one.
async fn prompt_run_or_children(
    context: &CliContext,
    driver: &Driver,
    state: &RunState,
) -> Result<bool, CliError> {
    if prompts::prompt_for_waits(context, state).await? {
        return Ok(true);
    }
    let Some(child) = prompt_children(context, state).await? else { return Ok(false) };
    driver.drive(&child).await?;
    Ok(true)
}

/// Formats the waits of a run and its children.
async fn format_open_waits(context: &CliContext, state: &RunState) -> Result<String, CliError> {
    let mut lines: Vec<String> =
        state.waits.values().map(|wait| render::format_wait(&state.run, wait)).collect();
    for order in state.pending.values() {
        if let PendingAction::Child { run, .. } = order {
            let state = context.engine.get_run(run).await?.state;
            lines.extend(state.waits.values().map(|wait| render::format_wait(run, wait)));
        }
    }
    Ok(lines.join("\n"))
}

/// Asks for the waits of a run's children; returns the first child that got an answer.
async fn prompt_children(
    context: &CliContext,
    state: &RunState,
) -> Result<Option<String>, CliError> {
    for order in state.pending.values() {
        if let PendingAction::Child { run, .. } = order {
            let state = context.engine.get_run(run).await?.state;
            if prompts::prompt_for_waits(context, &state).await? {
                return Ok(Some(run.clone()));
            }
        }
    }
    Ok(None)
}

fn print_outcome(
    state: &RunState,
    rest: &IdleReason,
    holder: Option<&str>,
    products: &[RunOutputView],
) {
    let run = &state.run;
    output::print_message("");
    output::print_message(&render::format_run_status(state));
    if let Some((by, Some(reason))) = &state.halted {
        output::print_message(&format!("Halted by {by}: {reason}."));
    }
    match holder {
        Some(holder) => output::print_message(&format!("{holder}.")),
        None => render::print_idle_reason(run, rest),
    }
    for wait in state.waits.values() {
        output::print_message(&render::format_wait(run, wait));
    }
    run_outputs::print_outputs(run, products);
    output::print_message(&format!(
        "Details: countersign status {run} · history {run} · show {run} · replay {run} --verify"
    ));
}
