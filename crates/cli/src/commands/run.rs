//! `countersign run [WORKFLOW]`: starts a run and works on it until it rests, asking in the terminal.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::protocol::Protocol;
use countersign_core::run::{Pending, Start, State, Status};
use countersign_runtime::driver::{Driver, Outlook, Rest};
use countersign_runtime::watch::{Unwatched, Watch};
use countersign_server::show::{Product, products};
use countersign_server::wire::Worked;
use serde_json::json;

use super::held::holder;
use super::start::begin;
use super::{people, trust};
use crate::args::Run;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::progress::Progress;
use crate::signals::Signals;
use crate::{output, product, show};

pub(super) fn run(args: &Run, json: bool) -> Result<Exit, Error> {
    let quiet = json || args.queue;
    let watch: Arc<dyn Watch> =
        if quiet { Arc::new(Unwatched) } else { Arc::new(Progress::default()) };
    wait(async {
        let model = args.model.as_deref();
        let house = House::open_remembering(&args.site, model, watch, !args.no_memory)?;
        trust::trust_own_model(&house)?;
        let talks = !json && !args.detach;
        let manner = match (args.stay, talks) {
            (true, _) => Manner::Stays,
            (false, true) => Manner::Talks,
            (false, false) => Manner::Leaves,
        };
        let run = match &args.resume {
            Some(named) => house.run(Some(named)).await?,
            None => begin(&house, args, talks).await?,
        };
        if talks {
            trust::ask_for_run(&house, &run).await?;
        }
        if args.queue {
            return queued(&house, &run, json).await;
        }
        work(&house, &run, manner, json).await
    })
}

/// Leaves a run that was started to the workers, where there is something to do for it.
async fn queued(house: &House, run: &str, json: bool) -> Result<Exit, Error> {
    let (store, now) = (house.engine.store(), house.engine.clock().now());
    let state = house.engine.look(run).await?.state;
    let due = store.head(&house.engine.run_id(run)).await?.and_then(|head| head.wake_at);
    let workers = store.workers(now.0).await?;
    let alive = workers.iter().filter(|row| row.until > now.0).count();
    if json {
        output::json(&json!({
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
        output::talk(&format!("run {run} is left to the workers: {who}"));
    } else {
        output::talk(&show::standing(&state));
        for wait in state.waits.values() {
            output::talk(&show::wait(run, wait));
        }
    }
    Ok(Exit::Good)
}

/// What is done when a run rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// It is left as it is.
    Leaves,
    /// Whoever sits at the terminal is asked.
    Talks,
    /// The same, and it is waited for what comes from elsewhere.
    Stays,
}

/// Creates a run under a name that nobody has.
pub(super) async fn create(
    house: &House,
    protocol: &Arc<Protocol>,
    start: Start,
    key: Option<String>,
) -> Result<String, Error> {
    Ok(house.engine.begin(protocol, start, key).await?)
}

/// The exit code after Ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;

/// Works on a run until it rests for good, or for somebody who is not here.
pub(super) async fn work(
    house: &House,
    run: &str,
    manner: Manner,
    json: bool,
) -> Result<Exit, Error> {
    let driver = house.driver()?;
    let mut signals = Signals::listen();
    let rest = tokio::select! {
        rest = to_rest(house, &driver, run, manner) => rest?,
        () = signals.next() => {
            // A run that is left in order is not one on which a worker ended. Where the store is away, the lease
            // runs out by itself.
            drop(driver.hand_back().await);
            // A question at the terminal would keep the process until it is answered.
            std::process::exit(INTERRUPTED)
        }
    };
    let outcome = house.engine.look(run).await?;
    let state = &outcome.state;
    let products = products(&house.engine, run).await?;
    if json {
        output::json(&json!(Worked::of(state, products)));
    } else {
        let holder = holder(house, run, &rest).await?;
        tell(state, &rest, holder.as_deref(), &products);
    }
    Ok(if state.status() == Status::Failed { Exit::Refused } else { Exit::Good })
}

async fn to_rest(house: &House, driver: &Driver, run: &str, manner: Manner) -> Result<Rest, Error> {
    let mut told = String::new();
    let mut followed = None;
    loop {
        let (rest, seen) = driven(driver, run).await?;
        if manner == Manner::Leaves || matches!(rest, Rest::Ended(_) | Rest::Halted | Rest::Parked)
        {
            return Ok(rest);
        }
        if let Some(holder) = holder(house, run, &rest).await? {
            if followed.as_ref() != Some(&holder) {
                output::talk(&format!("  {holder}; following, leave with Ctrl-C"));
                followed = Some(holder);
            }
            // A worker that dies moves nothing: its lease runs out, and we are the next.
            tokio::select! {
                changed = driver.changed(run, &seen) => changed?,
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
            continue;
        }
        let state = house.engine.look(run).await?.state;
        let alarm = match rest {
            Rest::Until(at) => Some(at.since(house.engine.clock().now())),
            _ => None,
        };
        if alarm.is_some_and(|pause| pause > 0)
            && let Rest::Until(at) = rest
        {
            output::talk(&format!(
                "  waiting until {at}; leave with Ctrl-C, go on with `countersign run --resume {run}`"
            ));
        }
        let stays = manner == Manner::Stays;
        if stays {
            let waits = open_waits(house, &state).await?;
            if waits != told {
                output::talk(&waits);
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
                (Rest::Waiting | Rest::Child(_), None) => asked(house, driver, &state).await,
                _ => Ok(false),
            }
        };
        // A document may come, or somebody may answer elsewhere, while a question stands here.
        tokio::select! {
            biased;
            moved = asked => match moved? {
                true => {}
                false if stays => driver.changed(run, &seen).await?,
                false => return Ok(rest),
            },
            changed = driver.changed(run, &seen) => {
                changed?;
                output::talk("");
            }
        }
    }
}

/// How often it is looked whether a run that somebody else works on is free.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Works on a run until a look out before and after agree: whatever comes later can be seen to have come.
async fn driven(driver: &Driver, run: &str) -> Result<(Rest, Outlook), Error> {
    let mut before = driver.outlook(run).await?;
    loop {
        let rest = driver.drive(run).await?;
        let after = driver.outlook(run).await?;
        if after == before || rest == Rest::Held {
            return Ok((rest, after));
        }
        before = after;
    }
}

/// Asks what a run and its children wait for; whether somebody answered.
async fn asked(house: &House, driver: &Driver, state: &State) -> Result<bool, Error> {
    if people::ask(house, state).await? {
        return Ok(true);
    }
    let Some(child) = asked_child(house, state).await? else { return Ok(false) };
    driver.drive(&child).await?;
    Ok(true)
}

/// What a run and its children wait for, in words.
async fn open_waits(house: &House, state: &State) -> Result<String, Error> {
    let mut told: Vec<String> =
        state.waits.values().map(|wait| show::wait(&state.run, wait)).collect();
    for order in state.pending.values() {
        if let Pending::Child { run, .. } = order {
            let state = house.engine.look(run).await?.state;
            told.extend(state.waits.values().map(|wait| show::wait(run, wait)));
        }
    }
    Ok(told.join("\n"))
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

fn tell(state: &State, rest: &Rest, holder: Option<&str>, products: &[Product]) {
    let run = &state.run;
    output::talk("");
    output::talk(&show::standing(state));
    if let Some((by, Some(reason))) = &state.halted {
        output::talk(&format!("Halted by {by}: {reason}."));
    }
    match holder {
        Some(holder) => output::talk(&format!("{holder}, and goes on with it.")),
        None => show::rest(run, rest),
    }
    for wait in state.waits.values() {
        output::talk(&show::wait(run, wait));
    }
    product::print(run, products);
    output::talk(&format!(
        "Look at it: countersign status {run} · history {run} · show {run} · replay {run} --verify"
    ));
}
