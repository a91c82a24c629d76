//! `countersign list`: lists the runs, newest first.

use countersign_run::{ExecutionStatus, Timestamp};
use countersign_runtime::engine::split_search_query;
use countersign_runtime::memory_context::parse_time;
use countersign_store::RunFilter;
use countersign_view::wire::{RunRow, build_run_rows};
use serde_json::json;

use crate::args::ListArgs;
use crate::context::{CliContext, NO_RUN_MESSAGE, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{HEADING, status_style};
use crate::table::render_table;
use crate::time_format;
use countersign_view::show::truncate_line;

pub(super) fn run(args: &ListArgs, json: bool) -> Result<CliExit, CliError> {
    let status = args.status.as_deref().map(parse_status).transpose()?;
    let (since, until) = (
        parse_bound("since", args.since.as_deref())?,
        parse_bound("until", args.until.as_deref())?,
    );
    let terms = args.search.as_deref().map(split_search_query);
    if terms.as_ref().is_some_and(Vec::is_empty) {
        let message = "--search has no word; expected at least one letter or digit";
        return Err(CliError::Usage(message.to_owned()));
    }
    block_on(async {
        let Some(context) = CliContext::find(&args.store_args)? else {
            print_runs(&[], Timestamp::default(), json, NO_RUN_MESSAGE);
            return Ok(CliExit::Success);
        };
        let mut filter = RunFilter::newest(context.engine.tenant().clone(), args.limit);
        filter.status = status.map(|status| status.as_str().to_owned());
        filter.workflow.clone_from(&args.workflow);
        filter.protocol_version.clone_from(&args.protocol_version);
        filter.started_by.clone_from(&args.started_by);
        (filter.since, filter.until) = (since, until);
        filter.terms = terms.unwrap_or_default();
        let everything = RunFilter::newest(filter.tenant.clone(), filter.limit);
        let filtered = filter != everything;
        let heads = context.engine.store().list_runs(&filter).await?;
        let now = context.engine.clock().now();
        let full = heads.len() == args.limit;
        let rows = build_run_rows(&context.engine, heads, now).await?;
        let empty = if filtered {
            "no runs match; `countersign list` shows all runs"
        } else {
            NO_RUN_MESSAGE
        };
        print_runs(&rows, now, json, empty);
        if !json && full {
            output::print_message(&format!(
                "Showing the newest {}; use --limit to show more.",
                args.limit
            ));
        }
        Ok(CliExit::Success)
    })
}

fn parse_status(word: &str) -> Result<ExecutionStatus, CliError> {
    ExecutionStatus::ALL.into_iter().find(|status| status.as_str() == word).ok_or_else(|| {
        let all = ExecutionStatus::ALL.map(ExecutionStatus::as_str).join(", ");
        CliError::Usage(format!("unknown status `{word}`; expected one of {all}"))
    })
}

fn parse_bound(name: &str, text: Option<&str>) -> Result<Option<i64>, CliError> {
    let time = text.map(|text| parse_time(&format!("--{name}"), text)).transpose();
    Ok(time.map_err(CliError::Usage)?.map(|time| time.0))
}

fn print_runs(runs: &[RunRow], now: Timestamp, json: bool, empty: &str) {
    if json {
        output::print_json(&json!(runs));
        return;
    }
    if runs.is_empty() {
        output::print_message(empty);
        return;
    }
    let rows: Vec<[String; 8]> = runs.iter().map(|run| format_row(run, now)).collect();
    let header = ["RUN", "TITLE", "WORKFLOW", "PHASE", "STATUS", "VERSION", "CHANGED", "WHY"];
    output::print_data(&render_table(header, &rows));
}

fn format_row(run: &RunRow, now: Timestamp) -> [String; 8] {
    let style = parse_status(&run.status).map(status_style).unwrap_or_default();
    let why = if run.parked { run.summary.clone() } else { truncate_line(&run.summary, 60) };
    [
        format!("{HEADING}{}{HEADING:#}", run.run),
        truncate_line(&run.title, 40),
        run.workflow.clone(),
        run.phase.clone(),
        format!("{style}{}{style:#}", run.status),
        run.version.to_string(),
        time_format::format_ago(now, Timestamp(run.updated_at)),
        why,
    ]
}
