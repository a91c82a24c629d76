//! `countersign memory summarize`: summarizes the session so far, from its best lines or with a
//! model.

use countersign_memory::record::SessionSummary;
use countersign_memory::summarize::summarize_by_rules;
use countersign_memory::tokens::TiktokenCounter;
use countersign_runtime::memory_extraction::extract_summary;
use serde_json::json;

use super::{open_memory, propose};
use crate::args::{MemorySummarizeArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{GOOD, HEADING};

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemorySummarizeArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let (scope, now) = (open_memory::resolve_scope(whose)?, open_memory::resolve_now(whose)?);
    let model = args
        .model
        .as_deref()
        .map(|name| propose::connect_selected_model(Some(name)))
        .transpose()?;
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let summary = match &model {
            Some(model) => {
                let heard = &mut propose::progress_printer(json);
                let summary =
                    extract_summary(&*memory, &**model, &scope, args.tokens, now, heard).await;
                output::print_transient("");
                match summary {
                    Ok(summary) => summary,
                    Err(error) => return propose::report_refusal(error, json),
                }
            }
            None => {
                let material = memory.load_summary_input(&scope, now).await?;
                summarize_by_rules(&material, args.tokens, &TiktokenCounter::o200k(), now)
            }
        };
        let Some(summary) = summary else {
            return Err(CliError::Usage(format!(
                "there is nothing to summarize in session `{}`",
                scope.session()
            )));
        };
        let revision = if args.dry_run {
            None
        } else {
            Some(memory.write_summary(&scope, summary.clone()).await?)
        };
        print_summary(&summary, revision, scope.session(), json);
        Ok(CliExit::Success)
    })
}

fn print_summary(summary: &SessionSummary, revision: Option<u32>, session: &str, json: bool) {
    let SessionSummary { text, sources, written_by: by, covered_position: upto, .. } = summary;
    if json {
        output::print_json(&json!({
            "session": session,
            "revision": revision,
            "text": text,
            "sources": sources,
            "written_by": by,
            "covered_position": upto,
        }));
        return;
    }
    output::print_data(&format!("{text}\n"));
    let by = by.as_deref().unwrap_or("a person");
    let events = open_memory::pluralize(sources.len() as u64, "event");
    output::print_message(&match revision {
        Some(revision) => format!(
            "{GOOD}kept{GOOD:#} summary of session {HEADING}{session}{HEADING:#}, revision {revision}: by {by}, from {events}"
        ),
        None => format!("by {by}, from {events}; nothing was stored"),
    });
}
