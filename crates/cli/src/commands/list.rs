//! `countersign list`: lists the runs, newest first.

use countersign_run::{ExecutionStatus, Timestamp};
use countersign_store::{RunFilter, RunHead};
use countersign_view::wire::RunRow;
use serde_json::json;

use crate::args::ListArgs;
use crate::context::{CliContext, NO_RUN_MESSAGE, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{HEADING, status_style};
use crate::table::render_table;
use crate::time_format;
use countersign_view::show::{describe_parking, truncate_line};

pub(super) fn run(args: &ListArgs, json: bool) -> Result<CliExit, CliError> {
    let status = args.status.as_deref().map(parse_status).transpose()?;
    block_on(async {
        let Some(context) = CliContext::find(&args.store_args)? else {
            print_runs(&[], Timestamp::default(), json, NO_RUN_MESSAGE);
            return Ok(CliExit::Success);
        };
        let mut filter = RunFilter::newest(context.engine.tenant().clone(), args.limit);
        filter.status = status.map(|status| status.as_str().to_owned());
        filter.workflow.clone_from(&args.workflow);
        let heads = context.engine.store().list_runs(&filter).await?;
        let filtered = args.status.is_some() || args.workflow.is_some();
        let empty = if filtered {
            "no runs match; `countersign list` shows all runs"
        } else {
            NO_RUN_MESSAGE
        };
        print_runs(&heads, context.engine.clock().now(), json, empty);
        if !json && heads.len() == args.limit {
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

fn print_runs(heads: &[RunHead], now: Timestamp, json: bool, empty: &str) {
    if json {
        let rows = heads.iter().cloned().map(|head| RunRow::new(head, now));
        output::print_json(&json!(rows.collect::<Vec<_>>()));
        return;
    }
    if heads.is_empty() {
        output::print_message(empty);
        return;
    }
    let rows: Vec<[String; 7]> = heads.iter().map(|head| format_row(head, now)).collect();
    let header = ["RUN", "WORKFLOW", "PHASE", "STATUS", "VERSION", "CHANGED", "WHY"];
    output::print_data(&render_table(header, &rows));
}

fn format_row(head: &RunHead, now: Timestamp) -> [String; 7] {
    let style = parse_status(&head.status).map(status_style).unwrap_or_default();
    [
        format!("{HEADING}{}{HEADING:#}", head.run.id),
        head.workflow.clone(),
        head.phase.clone(),
        format!("{style}{}{style:#}", head.status),
        head.version.to_string(),
        time_format::format_ago(now, Timestamp(head.updated_at)),
        describe_parking(head, now).unwrap_or_else(|| truncate_line(&head.summary, 60)),
    ]
}
