//! `countersign task list RUN` and `countersign task reset RUN TASK --reason TEXT`: manage the
//! child runs of a run by the keys of their items.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_run::{InputKind, RunEvent, RunState};
use countersign_runtime::engine::EngineError;
use countersign_runtime::run_observer::NoopRunObserver;
use serde_json::{Value, json};

use super::after_input;
use crate::args::{TaskArgs, TaskCommand, TaskListArgs, TaskResetArgs};
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::render::HEADING;
use crate::table::render_table;
use crate::{output, render};
use countersign_view::show::truncate_line;

/// The id of the question that a person answers with the reason for a retry.
const RESET_QUESTION: &str = "reset";

pub(super) fn run(args: &TaskArgs, json: bool) -> Result<CliExit, CliError> {
    match &args.command {
        TaskCommand::List(args) => list_tasks(args, json),
        TaskCommand::Reset(args) => reset_task(args, json),
    }
}

fn list_tasks(args: &TaskListArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open_existing(&args.store_args)?;
        let run = match &args.run {
            Some(named) => context.resolve_run(Some(named)).await?,
            None => find_root_run(&context).await?,
        };
        let mut rows = Vec::new();
        let mut listed = Vec::new();
        for (key, child) in load_children(&context, &run).await? {
            let state = match context.engine.get_run(&child).await {
                Ok(outcome) => outcome.state,
                // The child was requested but has not started.
                Err(EngineError::RunNotFound { .. }) => continue,
                Err(other) => return Err(other.into()),
            };
            let status = task_status(&state);
            let why = state.waits.values().next().map(|wait| wait.question.clone());
            listed.push(json!({
                "task": key,
                "run": child,
                "phase": state.phase,
                "status": status,
                "run_status": state.status().as_str(),
                "waits": state.waits.values().collect::<Vec<_>>(),
            }));
            let why = truncate_line(&why.unwrap_or_default(), 60);
            let task = format!("{HEADING}{key}{HEADING:#}");
            rows.push([task, status, child, state.phase.clone(), why]);
        }
        if json {
            output::print_json(&Value::Array(listed));
        } else if rows.is_empty() {
            output::print_message(&format!("run {run} has started no tasks"));
        } else {
            output::print_data(&render_table(["TASK", "STATUS", "RUN", "PHASE", "WHY"], &rows));
        }
        Ok(CliExit::Success)
    })
}

fn reset_task(args: &TaskResetArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(NoopRunObserver))?;
        let run = context.resolve_run(Some(&args.run)).await?;
        let run = match &args.task {
            None => run,
            Some(task) => find_child(&context, &run, task).await?,
        };
        let state = context.engine.get_run(&run).await?.state;
        let Some(open) = state.waits.values().find(|wait| wait.name == RESET_QUESTION) else {
            let status = render::format_run_status(&state);
            return Err(CliError::Usage(format!("no task waits for a reset. {status}")));
        };
        let (by, value) = (context.settings.user(), Value::String(args.reason.clone()));
        let what = InputKind::Answered { wait: open.id.clone(), value, by };
        let outcome = context.submit_input(&run, what, args.idempotency_key.clone()).await?;
        after_input::drive_and_report(&context, outcome, json).await
    })
}

/// Returns the newest run or its root ancestor, because a task has no tasks of its own.
async fn find_root_run(context: &CliContext) -> Result<String, CliError> {
    let mut run = context.resolve_run(None).await?;
    while let Some(parent) = &context.engine.get_run(&run).await?.state.parent {
        run.clone_from(&parent.run);
    }
    Ok(run)
}

/// Finds the child run with a key.
async fn find_child(context: &CliContext, run: &str, task: &str) -> Result<String, CliError> {
    let mut children = load_children(context, run).await?;
    children.remove(task).ok_or_else(|| {
        let keys: Vec<&str> = children.keys().map(String::as_str).collect();
        let has = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
        CliError::Usage(format!("run `{run}` has no task `{task}`; it has {has}"))
    })
}

/// Returns the child runs that have keys; for each key the newest.
async fn load_children(
    context: &CliContext,
    run: &str,
) -> Result<BTreeMap<String, String>, CliError> {
    let mut children = BTreeMap::new();
    for entry in context.engine.read_log(run).await? {
        let events = entry.decode_events(run);
        for event in events.map_err(|source| EngineError::corrupt(run.to_owned(), source))? {
            if let RunEvent::ChildRequested { run, key: Some(key), .. } = event {
                children.insert(key, run);
            }
        }
    }
    Ok(children)
}

/// Returns the status in the run's document, or the run's own status if the document has none.
fn task_status(state: &RunState) -> String {
    let own = || state.status().as_str().to_owned();
    state.document["status"].as_str().map_or_else(own, str::to_owned)
}
