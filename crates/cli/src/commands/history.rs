//! `countersign history [RUN]`: what came in, by whom, and what became true of it.

use countersign_core::run::{Event, Sealed, State, apply, open};
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
        let shown = |one: &&Sealed| one.version > args.after;
        if args.full {
            let events = log.iter().filter(shown).map(whole);
            if json {
                output::json(&events.collect());
            } else {
                events.for_each(|event| output::data(&format!("{event}\n")));
            }
            return Ok(Exit::Good);
        }
        let mut state = State::blank(run.as_str());
        let mut versions = Vec::new();
        for sealed in log.chunk_by(|one, next| one.version == next.version) {
            let events = fold(&mut state, sealed)?;
            if sealed[0].version <= args.after {
                continue;
            }
            if json {
                versions.push(listed(sealed, &events));
            } else {
                output::data(&block(&state, sealed, &events));
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

/// The events of a version; the state is then what it was after them.
fn fold(state: &mut State, sealed: &[Sealed]) -> Result<Vec<Event>, Error> {
    let run = state.run.clone();
    let corrupt = |source| Error::Engine(EngineError::corrupt(run.clone(), source));
    let mut events = Vec::with_capacity(sealed.len());
    for one in sealed {
        let event = open(&run, one.seq, &one.body).map_err(corrupt)?;
        apply(state, &event).map_err(corrupt)?;
        events.push(event);
    }
    Ok(events)
}

/// One event with everything that is kept of it.
fn whole(one: &Sealed) -> Value {
    let said: Value = serde_json::from_str(&one.body).unwrap_or_default();
    json!({
        "seq": one.seq,
        "version": one.version,
        "time": one.time,
        "kind": one.kind,
        "hash": one.hash,
        "event": said["what"],
    })
}

fn listed(sealed: &[Sealed], events: &[Event]) -> Value {
    let input = events.iter().find_map(|event| match event {
        Event::Received { input } => Some(input),
        _ => None,
    });
    let rest = events.iter().filter(|event| !matches!(event, Event::Received { .. }));
    json!({
        "version": sealed[0].version,
        "time": sealed[0].time,
        "hash": sealed[sealed.len() - 1].hash,
        "said": input.map(|input| incoming::sentence(&input.what)),
        "input": input.map(|input| &input.what),
        "events": rest.collect::<Vec<_>>(),
    })
}

fn block(state: &State, sealed: &[Sealed], events: &[Event]) -> String {
    let mut block = String::new();
    let mut text = None;
    for event in events {
        match event {
            Event::Received { input } => {
                text = incoming::text(&input.what);
                block.push_str(&format!(
                    "{HEADING}{}{HEADING:#}  {DIM}{}{DIM:#}  {}\n",
                    sealed[0].version,
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
