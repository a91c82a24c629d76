//! `countersign run [WORKFLOW]`: starts a run and works on it until it rests, asking in the terminal.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::protocol::Protocol;
use countersign_core::run::{Pending, Start, State, Status};
use countersign_runtime::driver::{Driver, Rest};
use countersign_runtime::engine::fresh_name;
use countersign_runtime::watch::{Unwatched, Watch};
use countersign_store::StoreError;
use serde_json::json;

use super::people;
use super::start::begin;
use crate::args::Run;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::progress::Progress;
use crate::{output, show};

pub(super) fn run(args: &Run, json: bool) -> Result<Exit, Error> {
    let watch: Arc<dyn Watch> =
        if json { Arc::new(Unwatched) } else { Arc::new(Progress::default()) };
    wait(async {
        let house = House::open(&args.site, args.model.as_deref(), watch)?;
        let talks = !json && !args.detach;
        let run = match &args.resume {
            Some(named) => house.run(Some(named)).await?,
            None => begin(&house, args, talks).await?,
        };
        work(&house, &run, talks, json).await
    })
}

/// Creates a run under a name that nobody has.
pub(super) async fn create(
    house: &House,
    protocol: &Arc<Protocol>,
    start: Start,
    key: Option<String>,
) -> Result<String, Error> {
    loop {
        // The same key names the same run, so that starting it twice starts it once.
        let name = key.as_ref().map_or_else(fresh_name, |key| format!("key-{key}"));
        match house.engine.start(&name, protocol, start.clone(), key.clone()).await {
            Ok(outcome) => return Ok(outcome.state.run),
            Err(countersign_runtime::engine::EngineError::Store(
                StoreError::Conflict { .. } | StoreError::DuplicateKey { .. },
            )) if key.is_some() => return Ok(name),
            Err(countersign_runtime::engine::EngineError::Store(StoreError::Conflict {
                ..
            })) => {}
            Err(other) => return Err(other.into()),
        }
    }
}

/// Works on a run until it rests for good, or for somebody who is not here.
pub(super) async fn work(house: &House, run: &str, talks: bool, json: bool) -> Result<Exit, Error> {
    let driver = house.driver()?;
    let rest = to_rest(house, &driver, run, talks).await?;
    let outcome = house.engine.look(run).await?;
    let state = &outcome.state;
    if json {
        output::json(&json!({
            "run": run,
            "status": state.status().as_str(),
            "phase": state.phase,
            "version": state.version,
            "waits": state.waits.values().collect::<Vec<_>>(),
            "document": *state.document,
        }));
    } else {
        tell(state, &rest);
    }
    Ok(if state.status() == Status::Failed { Exit::Refused } else { Exit::Good })
}

async fn to_rest(house: &House, driver: &Driver, run: &str, talks: bool) -> Result<Rest, Error> {
    loop {
        let rest = driver.drive(run).await?;
        let outcome = house.engine.look(run).await?;
        match rest {
            Rest::Until(at) if talks => {
                let pause = at.since(house.engine.clock().now());
                if pause > 0 {
                    output::talk(&format!(
                        "  waiting until {at}; leave with Ctrl-C, go on with `countersign run --resume {run}`"
                    ));
                }
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            Rest::Waiting if talks => {
                if !people::ask(house, &outcome.state).await? {
                    return Ok(rest);
                }
            }
            // What a child waits for is asked here as well: whoever started the parent sits here.
            Rest::Child(_) if talks => {
                let Some(child) = asked_child(house, &outcome.state).await? else {
                    return Ok(rest);
                };
                driver.drive(&child).await?;
            }
            rest => return Ok(rest),
        }
    }
}

/// Asks what the children of a run wait for; the first of them that got an answer.
async fn asked_child(house: &House, state: &State) -> Result<Option<String>, Error> {
    for order in state.pending.values() {
        if let Pending::Child { run, .. } = order {
            let state = house.engine.look(run).await?.state;
            if people::ask(house, &state).await? {
                return Ok(Some(run.clone()));
            }
        }
    }
    Ok(None)
}

fn tell(state: &State, rest: &Rest) {
    let run = &state.run;
    output::talk("");
    output::talk(&show::standing(state));
    show::rest(run, rest);
    for wait in state.waits.values() {
        output::talk(&show::wait(run, wait));
    }
    output::talk(&format!(
        "Look at it: countersign status {run} · history {run} · show {run} · replay {run} --verify"
    ));
}
