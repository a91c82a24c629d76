//! `countersign task list RUN`, `countersign task reset RUN TASK --because TEXT`: the children of a run, by the
//! keys of their items.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_core::run::{Event, Incoming, State};
use countersign_runtime::engine::EngineError;
use countersign_runtime::watch::Unwatched;
use serde_json::{Value, json};

use super::given;
use crate::args::{Task, TaskAction, TaskList, TaskReset};
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::show::HEADING;
use crate::table::table;
use crate::{output, show};
use countersign_server::show::shortened;

/// The question that a person answers with the reason why something is tried again.
const RESET: &str = "reset";

pub(super) fn run(args: &Task, json: bool) -> Result<Exit, Error> {
    match &args.action {
        TaskAction::List(args) => list(args, json),
        TaskAction::Reset(args) => reset(args, json),
    }
}

fn list(args: &TaskList, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::look(&args.site)?;
        let run = match &args.run {
            Some(named) => house.run(Some(named)).await?,
            None => eldest(&house).await?,
        };
        let mut rows = Vec::new();
        let mut listed = Vec::new();
        for (key, child) in children(&house, &run).await? {
            let state = match house.engine.look(&child).await {
                Ok(outcome) => outcome.state,
                // Ordered, and not begun.
                Err(EngineError::NoRun { .. }) => continue,
                Err(other) => return Err(other.into()),
            };
            let status = status(&state);
            let why = state.waits.values().next().map(|wait| wait.question.clone());
            listed.push(json!({
                "task": key,
                "run": child,
                "phase": state.phase,
                "status": status,
                "run_status": state.status().as_str(),
                "waits": state.waits.values().collect::<Vec<_>>(),
            }));
            let why = shortened(&why.unwrap_or_default(), 60);
            let task = format!("{HEADING}{key}{HEADING:#}");
            rows.push([task, status, child, state.phase.clone(), why]);
        }
        if json {
            output::json(&Value::Array(listed));
        } else if rows.is_empty() {
            output::talk(&format!("run {run} has started no tasks"));
        } else {
            output::data(&table(["TASK", "STATUS", "RUN", "PHASE", "WHY"], &rows));
        }
        Ok(Exit::Good)
    })
}

fn reset(args: &TaskReset, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::open(&args.site, None, Arc::new(Unwatched))?;
        let run = house.run(Some(&args.run)).await?;
        let run = match &args.task {
            None => run,
            Some(task) => child(&house, &run, task).await?,
        };
        let state = house.engine.look(&run).await?.state;
        let Some(open) = state.waits.values().find(|wait| wait.name == RESET) else {
            let standing = show::standing(&state);
            return Err(Error::Usage(format!("nothing waits for a reset. {standing}")));
        };
        let (by, value) = (house.settings.user(), Value::String(args.because.clone()));
        let what = Incoming::Answered { wait: open.id.clone(), value, by };
        let outcome = house.engine.give(&run, what, args.key.clone()).await?;
        given::told(&house, outcome, json).await
    })
}

/// The newest run, or the one that it was started for: a task alone has none.
async fn eldest(house: &House) -> Result<String, Error> {
    let mut run = house.run(None).await?;
    while let Some(parent) = &house.engine.look(&run).await?.state.parent {
        run.clone_from(&parent.run);
    }
    Ok(run)
}

/// The child of a key.
async fn child(house: &House, run: &str, task: &str) -> Result<String, Error> {
    let mut children = children(house, run).await?;
    children.remove(task).ok_or_else(|| {
        let keys: Vec<&str> = children.keys().map(String::as_str).collect();
        let has = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
        Error::Usage(format!("run `{run}` has no task `{task}`; it has {has}"))
    })
}

/// The children of a run that have keys, the newest of each key.
async fn children(house: &House, run: &str) -> Result<BTreeMap<String, String>, Error> {
    let mut children = BTreeMap::new();
    for entry in house.engine.log(run).await? {
        let events = entry.open(run);
        for event in events.map_err(|source| EngineError::corrupt(run.to_owned(), source))? {
            if let Event::ChildAsked { run, key: Some(key), .. } = event {
                children.insert(key, run);
            }
        }
    }
    Ok(children)
}

/// What the document of a run says of its status, else the run's own.
fn status(state: &State) -> String {
    let own = || state.status().as_str().to_owned();
    state.document["status"].as_str().map_or_else(own, str::to_owned)
}
