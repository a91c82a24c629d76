//! `countersign history [RUN]`: lists the inputs of a run, who submitted them, and the resulting
//! events.

use countersign_run::{RunEvent, RunState, fold_entry};
use countersign_runtime::engine::EngineError;
use countersign_view::show::input_text;
use countersign_view::wire::{EventRow, VersionRow};
use serde_json::json;

use crate::args::HistoryArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::render::{self, DIM, HEADING};
use crate::time_format::format_timestamp;
use crate::{output, progress};

pub(super) fn run(args: &HistoryArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open_existing(&args.store_args)?;
        let run = context.resolve_run(args.run.as_deref()).await?;
        let log = context.engine.read_log(&run).await?;
        let corrupt = |source| CliError::Engine(EngineError::corrupt(run.clone(), source));
        if args.full {
            let shown = log.iter().filter(|one| one.version > args.after);
            let events = shown.map(|one| {
                Ok(EventRow::list_from_entry(one, one.decode_events(&run).map_err(corrupt)?))
            });
            let events = events.collect::<Result<Vec<_>, CliError>>()?.into_iter().flatten();
            if json {
                output::print_json(&json!(events.collect::<Vec<_>>()));
            } else {
                events.for_each(|event| output::print_json_line(&json!(event)));
            }
            return Ok(CliExit::Success);
        }
        let mut state = RunState::new(run.as_str());
        let mut versions = Vec::new();
        for one in &log {
            let events = fold_entry(&mut state, &one.body).map_err(corrupt)?;
            if one.version <= args.after {
                continue;
            }
            if json {
                versions.push(VersionRow::from_entry(one, events));
            } else {
                output::print_data(&format_version(&state, one.version, &events));
            }
        }
        if json {
            output::print_json(&json!(versions));
        } else if state.version <= args.after {
            output::print_message(&format!(
                "Nothing newer: run {run} is at version {}.",
                state.version
            ));
        }
        Ok(CliExit::Success)
    })
}

fn format_version(state: &RunState, version: u64, events: &[RunEvent]) -> String {
    let mut block = String::new();
    let mut text = None;
    for event in events {
        match event {
            RunEvent::InputReceived { input } => {
                text = input_text::submitted_text(&input.payload);
                block.push_str(&format!(
                    "{HEADING}{}{HEADING:#}  {DIM}{}{DIM:#}  {}\n",
                    version,
                    format_timestamp(input.time),
                    input_text::describe_input(&input.payload),
                ));
            }
            RunEvent::ReplyRefused { violations, .. } => {
                let excerpt = render::format_annotated_reply(text.unwrap_or_default(), violations);
                block.push_str(&indent("    ", &excerpt));
            }
            event => {
                for line in progress::format_event(event, state) {
                    block.push_str(&indent("    ", line.trim_start()));
                }
            }
        }
    }
    block.push('\n');
    block
}

fn indent(by: &str, text: &str) -> String {
    text.lines().map(|line| format!("{by}{line}").trim_end().to_owned() + "\n").collect()
}
