//! `countersign run [WORKFLOW]`: starts a run and works on it until it rests, asking in the terminal.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::protocol::Protocol;
use countersign_core::run::{ExecutionStatus, PendingAction, RunStart, RunState};
use countersign_runtime::driver::{ChangeSnapshot, Driver, IdleReason};
use countersign_runtime::run_observer::{NoopRunObserver, RunObserver};
use countersign_server::show::{RunOutputView, collect_outputs};
use countersign_server::wire::RunResultView;
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
        let house = CliContext::open_with_memory(&args.store_args, model, watch, !args.no_memory)?;
        trust::trust_own_model(&house)?;
        let talks = !json && !args.detach;
        let manner = match (args.stay, talks) {
            (true, _) => InteractionMode::Following,
            (false, true) => InteractionMode::Interactive,
            (false, false) => InteractionMode::Detached,
        };
        let run = match &args.resume {
            Some(named) => house.resolve_run(Some(named)).await?,
            None => start_run(&house, args, talks).await?,
        };
        if talks {
            trust::confirm_run_protocol(&house, &run).await?;
        }
        if args.queue {
            return report_queued_run(&house, &run, json).await;
        }
        drive_run(&house, &run, manner, json).await
    })
}

/// Leaves a run that was started to the workers, where there is something to do for it.
async fn report_queued_run(house: &CliContext, run: &str, json: bool) -> Result<CliExit, CliError> {
    let (store, now) = (house.engine.store(), house.engine.clock().now());
    let state = house.engine.get_run(run).await?.state;
    let due = store.load_head(&house.engine.run_id(run)).await?.and_then(|head| head.wake_at);
    let workers = store.list_workers(now.0).await?;
    let alive = workers.iter().filter(|row| row.until > now.0).count();
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
            0 => "nobody is at work; `countersign worker` starts a worker".to_owned(),
            1 => "one worker is there".to_owned(),
            several => format!("{several} workers are there"),
        };
        output::print_message(&format!("run {run} is left to the workers: {who}"));
    } else {
        output::print_message(&render::format_run_status(&state));
        for wait in state.waits.values() {
            output::print_message(&render::format_wait(run, wait));
        }
    }
    Ok(CliExit::Success)
}

/// What is done when a run rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InteractionMode {
    /// It is left as it is.
    Detached,
    /// Whoever sits at the terminal is asked.
    Interactive,
    /// The same, and it is waited for what comes from elsewhere.
    Following,
}

/// Creates a run under a name that nobody has.
pub(super) async fn create_run(
    house: &CliContext,
    protocol: &Arc<Protocol>,
    start: RunStart,
    key: Option<String>,
) -> Result<String, CliError> {
    Ok(house.engine.start_run(protocol, start, key).await?)
}

/// The exit code after Ctrl-C, as shells have it.
const EXIT_INTERRUPTED: i32 = 130;

/// Works on a run until it rests for good, or for somebody who is not here.
pub(super) async fn drive_run(
    house: &CliContext,
    run: &str,
    manner: InteractionMode,
    json: bool,
) -> Result<CliExit, CliError> {
    let driver = house.build_driver()?;
    let mut signals = TerminationSignals::listen();
    let rest = tokio::select! {
        rest = drive_until_idle(house, &driver, run, manner) => rest?,
        () = signals.recv() => {
            // A run that is left in order is not one on which a worker ended. Where the store is away, the lease
            // runs out by itself.
            drop(driver.release_leases().await);
            // A question at the terminal would keep the process until it is answered.
            std::process::exit(EXIT_INTERRUPTED)
        }
    };
    let outcome = house.engine.get_run(run).await?;
    let state = &outcome.state;
    let products = collect_outputs(&house.engine, run).await?;
    if json {
        output::print_json(&json!(RunResultView::from_state(state, products)));
    } else {
        let holder = describe_lease_holder(house, run, &rest).await?;
        print_outcome(state, &rest, holder.as_deref(), &products);
    }
    Ok(if state.status() == ExecutionStatus::Failed { CliExit::Refused } else { CliExit::Success })
}

async fn drive_until_idle(
    house: &CliContext,
    driver: &Driver,
    run: &str,
    manner: InteractionMode,
) -> Result<IdleReason, CliError> {
    let mut told = String::new();
    let mut followed = None;
    loop {
        let (rest, seen) = drive_and_snapshot(driver, run).await?;
        if manner == InteractionMode::Detached
            || matches!(rest, IdleReason::Ended(_) | IdleReason::Halted | IdleReason::Parked)
        {
            return Ok(rest);
        }
        if let Some(holder) = describe_lease_holder(house, run, &rest).await? {
            if followed.as_ref() != Some(&holder) {
                output::print_message(&format!("  {holder}; following, leave with Ctrl-C"));
                followed = Some(holder);
            }
            // A worker that dies moves nothing: its lease runs out, and we are the next.
            tokio::select! {
                changed = driver.wait_for_change(run, &seen) => changed?,
                () = tokio::time::sleep(RECHECK_INTERVAL) => {}
            }
            continue;
        }
        let state = house.engine.get_run(run).await?.state;
        let alarm = match rest {
            IdleReason::WaitingUntil(at) => Some(at.millis_since(house.engine.clock().now())),
            _ => None,
        };
        if alarm.is_some_and(|pause| pause > 0)
            && let IdleReason::WaitingUntil(at) = rest
        {
            output::print_message(&format!(
                "  waiting until {at}; leave with Ctrl-C, go on with `countersign run --resume {run}`"
            ));
        }
        let stays = manner == InteractionMode::Following;
        if stays {
            let waits = format_open_waits(house, &state).await?;
            if waits != told {
                output::print_message(&waits);
                told = waits;
            }
        }
        let asked = async {
            match (&rest, alarm) {
                (_, Some(pause)) => {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                    Ok(true)
                }
                // What a child waits for is asked here as well: whoever started the parent sits here.
                (IdleReason::WaitingForInput | IdleReason::WaitingForChild(_), None) => {
                    prompt_run_or_children(house, driver, &state).await
                }
                _ => Ok(false),
            }
        };
        // A document may come, or somebody may answer elsewhere, while a question stands here.
        tokio::select! {
            biased;
            moved = asked => match moved? {
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

/// How often it is looked whether a run that somebody else works on is free.
const RECHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Works on a run until a look out before and after agree: whatever comes later can be seen to have come.
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

/// Asks what a run and its children wait for; whether somebody answered.
async fn prompt_run_or_children(
    house: &CliContext,
    driver: &Driver,
    state: &RunState,
) -> Result<bool, CliError> {
    if prompts::prompt_for_waits(house, state).await? {
        return Ok(true);
    }
    let Some(child) = prompt_children(house, state).await? else { return Ok(false) };
    driver.drive(&child).await?;
    Ok(true)
}

/// What a run and its children wait for, in words.
async fn format_open_waits(house: &CliContext, state: &RunState) -> Result<String, CliError> {
    let mut told: Vec<String> =
        state.waits.values().map(|wait| render::format_wait(&state.run, wait)).collect();
    for order in state.pending.values() {
        if let PendingAction::Child { run, .. } = order {
            let state = house.engine.get_run(run).await?.state;
            told.extend(state.waits.values().map(|wait| render::format_wait(run, wait)));
        }
    }
    Ok(told.join("\n"))
}

/// Asks what the children of a run wait for; the first of them that got an answer.
async fn prompt_children(house: &CliContext, state: &RunState) -> Result<Option<String>, CliError> {
    for order in state.pending.values() {
        if let PendingAction::Child { run, .. } = order {
            let state = house.engine.get_run(run).await?.state;
            if prompts::prompt_for_waits(house, &state).await? {
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
        Some(holder) => output::print_message(&format!("{holder}, and goes on with it.")),
        None => render::print_idle_reason(run, rest),
    }
    for wait in state.waits.values() {
        output::print_message(&render::format_wait(run, wait));
    }
    run_outputs::print_outputs(run, products);
    output::print_message(&format!(
        "Look at it: countersign status {run} · history {run} · show {run} · replay {run} --verify"
    ));
}
