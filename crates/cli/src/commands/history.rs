//! `countersign history [RUN]`: what came in, by whom, and what became true of it.

use countersign_core::run::{Entry, Event, State, fold};
use countersign_runtime::engine::EngineError;
use serde_json::{Value, json};

use crate::args::History;
use crate::elapsed::moment;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::show::{self, DIM, HEADING};
use crate::{incoming, output, progress};

pub(super) fn run(args: &History, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::look(&args.site)?;
        let run = house.run(args.run.as_deref()).await?;
        let log = house.engine.log(&run).await?;
        let corrupt = |source| Error::Engine(EngineError::corrupt(run.clone(), source));
        if args.full {
            let shown = log.iter().filter(|one| one.version > args.after);
            let events = shown.map(|one| Ok(whole(one, &one.open(&run).map_err(corrupt)?)));
            let events = events.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten();
            if json {
                output::json(&events.collect());
            } else {
                events.for_each(|event| output::data(&format!("{event}\n")));
            }
            return Ok(Exit::Good);
        }
        let mut state = State::blank(run.as_str());
        let mut versions = Vec::new();
        for one in &log {
            let events = fold(&mut state, &one.body).map_err(corrupt)?;
            if one.version <= args.after {
                continue;
            }
            if json {
                versions.push(listed(one, &events));
            } else {
                output::data(&block(&state, one.version, &events));
            }
        }
        if json {
            output::json(&versions.into());
        } else if state.version <= args.after {
            output::talk(&format!(
                "Nothing came after: run {run} is at version {}.",
                state.version
            ));
        }
        Ok(Exit::Good)
    })
}

/// The events of a version, each with everything that is kept of it.
fn whole(one: &Entry, events: &[Event]) -> Vec<Value> {
    let events = (one.first..).zip(events).map(|(seq, event)| {
        json!({
            "seq": seq,
            "version": one.version,
            "time": one.time,
            "kind": event.kind(),
            "hash": one.hash,
            "event": event,
        })
    });
    events.collect()
}

fn listed(one: &Entry, events: &[Event]) -> Value {
    let input = events.iter().find_map(|event| match event {
        Event::Received { input } => Some(input),
        _ => None,
    });
    let rest = events.iter().filter(|event| !matches!(event, Event::Received { .. }));
    json!({
        "version": one.version,
        "time": one.time,
        "hash": one.hash,
        "said": input.map(|input| incoming::sentence(&input.what)),
        "input": input.map(|input| &input.what),
        "events": rest.collect::<Vec<_>>(),
    })
}

fn block(state: &State, version: u64, events: &[Event]) -> String {
    let mut block = String::new();
    let mut text = None;
    for event in events {
        match event {
            Event::Received { input } => {
                text = incoming::text(&input.what);
                block.push_str(&format!(
                    "{HEADING}{}{HEADING:#}  {DIM}{}{DIM:#}  {}\n",
                    version,
                    moment(input.time),
                    incoming::sentence(&input.what),
                ));
            }
            Event::ReplyRefused { violations, .. } => {
                let excerpt = show::beside(text.unwrap_or_default(), violations);
                block.push_str(&indented("    ", &excerpt));
            }
            event => {
                for line in progress::lines(event, state) {
                    block.push_str(&indented("    ", line.trim_start()));
                }
            }
        }
    }
    block.push('\n');
    block
}

fn indented(by: &str, text: &str) -> String {
    text.lines().map(|line| format!("{by}{line}").trim_end().to_owned() + "\n").collect()
}
