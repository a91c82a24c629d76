//! `countersign inbox [RUN]`: lists the waits for people, nearest deadline first.

use countersign_protocol::format_assignees;
use countersign_run::{RunWait, Timestamp, WaitKind};
use countersign_runtime::driver::describe_unused_document;
use countersign_store::{RunHead, WaitFilter, WaitRow};
use countersign_view::show::{describe_parking, wait_text};
use countersign_view::wire::InboxRow;
use serde_json::json;

use crate::args::InboxArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, DIM, HEADING};
use crate::time_format::{format_ago, format_until};

/// Every kind of wait that the inbox lists.
const WAIT_KINDS: [WaitKind; 6] = [
    WaitKind::Question,
    WaitKind::Document,
    WaitKind::Approval,
    WaitKind::Budget,
    WaitKind::Work,
    WaitKind::Incident,
];

pub(super) fn run(args: &InboxArgs, json: bool) -> Result<CliExit, CliError> {
    let kind = args.kind.as_deref().map(parse_wait_kind).transpose()?;
    block_on(async {
        let context = CliContext::find(&args.store_args)?;
        let (waits, parked) = match &context {
            Some(context) => {
                (load_waits(context, args, kind).await?, list_parked_runs(context, args).await?)
            }
            None => (Vec::new(), Vec::new()),
        };
        if !json {
            for line in &parked {
                output::print_data(line);
            }
        }
        if json {
            let rows = waits.iter().map(|(run, wait)| InboxRow::from_wait(run, wait));
            output::print_json(&json!(rows.collect::<Vec<_>>()));
        } else if waits.is_empty() && !parked.is_empty() {
            output::print_message("Nothing else is waiting.");
        } else if waits.is_empty() {
            output::print_message(
                "Nothing is waiting for an answer. `countersign list` shows the runs.",
            );
        } else {
            let now =
                countersign_runtime::clock::Clock::now(&countersign_runtime::clock::SystemClock);
            for (run, wait) in &waits {
                output::print_data(&render_wait(run, wait, now, args.wait_name().is_some()));
                if let Some(context) = &context
                    && let Some(preview) = context.engine.preview_wait(run, wait).await
                {
                    output::print_data(&format!("      {}", preview.replace('\n', "\n      ")));
                }
                if let Some(unused) = describe_unused(context.as_ref(), run, wait) {
                    output::print_message(&format!("{run}/{}: {unused}", wait.id));
                }
            }
            if waits.len() == args.limit {
                output::print_message(&format!(
                    "Showing the first {}; use --limit to show more.",
                    args.limit
                ));
            }
        }
        Ok(CliExit::Success)
    })
}

/// Describes a file that was put in place for a wait and does not answer it.
fn describe_unused(context: Option<&CliContext>, run: &str, wait: &RunWait) -> Option<String> {
    describe_unused_document(context?.engine.workspace()?, run, wait)
}

fn parse_wait_kind(word: &str) -> Result<WaitKind, CliError> {
    WAIT_KINDS.into_iter().find(|kind| kind.as_str() == word).ok_or_else(|| {
        let all = WAIT_KINDS.map(WaitKind::as_str).join(", ");
        CliError::Usage(format!("unknown kind of wait `{word}`; expected one of {all}"))
    })
}

async fn load_waits(
    context: &CliContext,
    args: &InboxArgs,
    kind: Option<WaitKind>,
) -> Result<Vec<(String, RunWait)>, CliError> {
    let mut filter = WaitFilter::all(context.engine.tenant().clone(), args.limit);
    filter.kind = kind.map(|kind| kind.as_str().to_owned());
    if let Some(named) = args.run_name() {
        filter.run = Some(context.resolve_run(Some(named)).await?);
    }
    let rows = context.engine.store().list_waits(&filter).await?;
    let waits = rows.into_iter().map(parse_wait_row).collect::<Result<Vec<_>, _>>()?;
    let named = |(_, wait): &(String, RunWait)| args.wait_name().is_none_or(|id| wait.id == id);
    Ok(waits.into_iter().filter(named).collect())
}

/// Lists the parked runs. They continue only when a person resumes them, because workers died while
/// driving them.
async fn list_parked_runs(context: &CliContext, args: &InboxArgs) -> Result<Vec<String>, CliError> {
    if args.kind.is_some() {
        return Ok(Vec::new());
    }
    let engine = &context.engine;
    let now = engine.clock().now();
    let heads = engine.store().list_parked_runs(engine.tenant(), now.0, args.limit).await?;
    let named = match args.run_name() {
        Some(named) => Some(context.resolve_run(Some(named)).await?),
        None => None,
    };
    let heads = heads.iter().filter(|head| named.as_ref().is_none_or(|run| *run == head.run.id));
    let line = |head: &RunHead| {
        let parked = describe_parking(head, now)?;
        Some(format!("{HEADING}{}{HEADING:#}  {BAD}{parked}{BAD:#}\n\n", head.run.id))
    };
    Ok(heads.filter_map(line).collect())
}

fn parse_wait_row(row: WaitRow) -> Result<(String, RunWait), CliError> {
    let wait = serde_json::from_str(&row.body).map_err(|error| {
        let what = format!("wait {} of run {} cannot be read: {error}", row.id, row.run.id);
        CliError::Store(countersign_store::StoreError::Corrupt { reason: what })
    })?;
    Ok((row.run.id, wait))
}

fn render_wait(run: &str, wait: &RunWait, now: Timestamp, whole: bool) -> String {
    let left = match wait.deadline {
        Some(at) if at < now => format!("{BAD}{}{BAD:#}", format_until(now, at)),
        Some(at) => format_until(now, at),
        None => "no deadline".to_owned(),
    };
    let who = format_assignees(&wait.who);
    let mut text = format!(
        "{HEADING}{run}/{}{HEADING:#}  {}  {left}\n    {}\n",
        wait.id,
        wait.kind.as_str(),
        wait.question.trim().replace('\n', "\n    "),
    );
    if let Some(subject) = wait_text::describe_subject(wait) {
        const SHOWN: usize = 12;
        let lines: Vec<&str> = subject.lines().collect();
        let shown = if whole || lines.len() <= SHOWN + 1 { lines.len() } else { SHOWN };
        for line in &lines[..shown] {
            let indent = if line.is_empty() { "" } else { "      " };
            text.push_str(&format!("{indent}{line}\n"));
        }
        if shown < lines.len() {
            let more = lines.len() - shown;
            text.push_str(&format!(
                "      {DIM}… {more} more lines: countersign inbox {run}/{}{DIM:#}\n",
                wait.id
            ));
        }
    }
    if let Some(shape) = wait_text::describe_answer(wait) {
        text.push_str(&format!("    {shape}\n"));
    }
    text.push_str(&format!(
        "    {DIM}for {who}, in phase {}, asked {}{DIM:#}\n",
        wait.phase,
        format_ago(now, wait.opened_at)
    ));
    text.push_str(&format!("    {DIM}{}{DIM:#}\n\n", wait_text::answer_command(run, wait)));
    text
}
