//! The common tail of every command that submits an input to a run: drives the run and reports its
//! status.

use std::sync::Arc;

use countersign_run::{ExecutionStatus, InputKind, WaitKind};
use countersign_runtime::driver::IdleReason;
use countersign_runtime::engine::InputOutcome;
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_view::show::collect_outputs;
use countersign_view::wire::InputResponse;
use serde_json::json;

use super::lease_holder::describe_lease_holder;
use crate::args::TargetRunArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::{output, render, run_outputs};

/// Submits the input that `build_input` makes for the caller's name, then drives the run and reports
/// its status.
pub(super) fn submit_and_report(
    target: &TargetRunArgs,
    build_input: impl FnOnce(String) -> InputKind,
    json: bool,
) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open(&target.store_args, None, Arc::new(NoopRunObserver))?;
        let run = context.resolve_run(Some(&target.run)).await?;
        let input = build_input(context.settings.user());
        let outcome = context.submit_input(&run, input, None).await?;
        drive_and_report(&context, outcome, json).await
    })
}

/// Drives the run as far as possible and reports its status.
pub(super) async fn drive_and_report(
    context: &CliContext,
    outcome: InputOutcome,
    json: bool,
) -> Result<CliExit, CliError> {
    let run = outcome.state.run.clone();
    let refused = outcome.violations().map(<[_]>::to_vec);
    let rest = context.build_driver()?.drive(&run).await?;
    let outcome = context.engine.get_run(&run).await?;
    let state = &outcome.state;
    let products = collect_outputs(&context.engine, &run).await?;
    if json {
        let mut response = json!(InputResponse::from_state(state, products, refused.clone()));
        response["leased_elsewhere"] = json!(rest == IdleReason::LeasedElsewhere);
        output::print_json(&response);
    } else {
        if let Some(violations) = &refused {
            render::print_violations(violations);
        }
        output::print_message(&render::format_run_status(state));
        match describe_lease_holder(context, &run, &rest).await? {
            Some(holder) => output::print_message(&format!("{holder}.")),
            None => render::print_idle_reason(&run, &rest),
        }
        for wait in state.waits.values().filter(|wait| wait.kind != WaitKind::Work) {
            output::print_message(&render::format_wait(&run, wait));
        }
        run_outputs::print_outputs(&run, &products);
    }
    let good = refused.is_none() && state.status() != ExecutionStatus::Failed;
    Ok(if good { CliExit::Success } else { CliExit::Refused })
}
