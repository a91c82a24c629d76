//! `countersign history [RUN]`: what came in, by whom, and what became true of it.

use countersign_core::run::{Event, State, fold};
use countersign_runtime::engine::EngineError;
use countersign_server::show::incoming;
use countersign_server::wire::{EventRow, VersionRow};
use serde_json::json;

use crate::args::History;
use crate::elapsed::moment;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::show::{self, DIM, HEADING};
use crate::{output, progress};

pub(super) fn run(args: &History, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::look(&args.site)?;
        let run = house.run(args.run.as_deref()).await?;
        let log = house.engine.log(&run).await?;
        let corrupt = |source| Error::Engine(EngineError::corrupt(run.clone(), source));
        if args.full {
            let shown = log.iter().filter(|one| one.version > args.after);
            let events = shown.map(|one| Ok(EventRow::all(one, one.open(&run).map_err(corrupt)?)));
            let events = events.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten();
            if json {
                output::json(&json!(events.collect::<Vec<_>>()));
            } else {
                events.for_each(|event| output::json_line(&json!(event)));
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
                versions.push(VersionRow::of(one, events));
            } else {
                output::data(&block(&state, one.version, &events));
            }
        }
        if json {
            output::json(&json!(versions));
        } else if state.version <= args.after {
            output::talk(&format!(
                "Nothing came after: run {run} is at version {}.",
                state.version
            ));
        }
        Ok(Exit::Good)
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
