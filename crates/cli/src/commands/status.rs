//! `countersign status [RUN]`: shows the status of a run and the reason for it.

use countersign_protocol::{ProtocolBundle, format_assignees};
use countersign_run::{BlockReason, RunEndKind, RunState, Timestamp};
use countersign_runtime::folder;
use countersign_view::show::{
    BudgetStatus, RunOutputView, RunStatusReport, collect_outputs, describe_action, wait_text,
};
use countersign_view::wire::RunStatusView;
use serde_json::json;

use crate::args::StatusArgs;
use crate::context::{CliContext, block_on, load_bundle};
use crate::exit::{CliError, CliExit};
use crate::render::{BAD, DIM, GOOD, HEADING, status_style};
use crate::table::render_table;
use crate::time_format::{format_ago, format_duration, format_timestamp, format_until};
use crate::{output, run_outputs};
use countersign_view::show::{
    describe_parking, describe_waiting_child, load_run_family, truncate_line,
};

pub(super) fn run(args: &StatusArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open_existing(&args.store_args)?;
        let run = context.resolve_run(args.run.as_deref()).await?;
        let outcome = context.engine.get_run(&run).await?;
        let log = context.engine.read_log(&run).await?;
        let now = context.engine.clock().now();
        let bundle = context
            .find_protocol_folder()
            .ok()
            .and_then(|folder| folder::read_protocol_folder(&folder).ok());
        // For a run of a shipped protocol, another protocol in this folder is not comparable.
        let other = |bundle: &ProtocolBundle| {
            load_bundle(bundle.clone()).is_ok_and(|(found, _)| found.name != outcome.protocol.name)
        };
        let digest = bundle.filter(|bundle| !other(bundle)).map(|bundle| bundle.compute_digest());
        let products = collect_outputs(&context.engine, &run).await?;
        let head = context.engine.store().load_head(&context.engine.run_id(&run)).await?;
        let parked = head.and_then(|head| describe_parking(&head, now));
        let report = RunStatusReport::build(outcome, &log, now, digest.as_deref(), products);
        let family = load_run_family(&context.engine, &report.outcome.state).await?;
        let report = report.with_parking(parked).with_family(family);
        if json {
            output::print_json(&json!(RunStatusView::from(&report)));
        } else {
            output::print_data(&render_status(&report, now));
        }
        Ok(CliExit::Success)
    })
}

fn render_status(report: &RunStatusReport, now: Timestamp) -> String {
    let (state, protocol) = (&report.outcome.state, &report.outcome.protocol);
    let status = state.status();
    let style = status_style(status);
    let mut page = format!(
        "run {HEADING}{}{HEADING:#} of workflow {}: {style}{}{style:#} in phase {HEADING}{}{HEADING:#} for {}\n",
        state.run,
        state.workflow,
        status.as_str(),
        state.phase,
        format_duration(now.millis_since(state.entered_at)),
    );
    if !state.title.is_empty() {
        page = format!("{HEADING}{}{HEADING:#}\n{page}", state.title);
    }
    if let Some(child) = &report.family.waiting_child {
        let said = describe_waiting_child(child);
        page.push_str(&format!("{} ({})\n", capitalize(&said), child.run.id));
    }
    if let Some(parked) = &report.parked {
        page.push_str(&format!("{BAD}{parked}{BAD:#}\n"));
    }
    if let Some(why) = describe_reason(state) {
        page.push_str(&format!("{why}\n"));
    }
    write_outputs(&mut page, &report.outputs, &state.run);
    write_waits(&mut page, state, now);
    write_closed_gates(&mut page, state, now);
    write_pending_actions(&mut page, state, now);
    write_budgets(&mut page, &report.budgets);
    let mut rows: Vec<(&str, String)> = vec![
        ("version", format!("{}, {} events", state.version, state.seq)),
        (
            "started",
            format!(
                "{} ({})",
                format_timestamp(state.created_at),
                format_ago(now, state.created_at)
            ),
        ),
        (
            "changed",
            format!(
                "{} ({})",
                format_timestamp(state.updated_at),
                format_ago(now, state.updated_at)
            ),
        ),
    ];
    if let Some(at) = report.wake_at {
        rows.push(("next timer", format!("{} ({})", format_timestamp(at), format_until(now, at))));
    }
    if !state.tickets.is_empty() {
        let tickets: Vec<&str> = state.tickets.iter().map(String::as_str).collect();
        rows.push(("tickets", tickets.join(", ")));
    }
    rows.push(("models", describe_model_usage(report)));
    rows.push(("document", format!("{} bytes", report.document_bytes)));
    let digest = protocol.digest.strip_prefix("sha256:").unwrap_or(&protocol.digest);
    let changed = match report.folder_changed {
        Some(true) => {
            "; the folder has changed since, but this run keeps the files it started with"
        }
        Some(false) => ", same as in the folder",
        None => "",
    };
    let short = digest.get(..12).unwrap_or(digest);
    rows.push(("protocol", format!("{} {} ({short}){changed}", protocol.name, protocol.version)));
    if let Some(parent) = &state.parent {
        let title = report.family.parent.as_ref().map_or("", |head| &head.title);
        let name = name_run(&parent.run, title);
        rows.push(("parent", format!("run {name}, which waits for this one")));
    }
    if let Some(fork) = &state.fork {
        rows.push(("forked from", format!("{}@{}", fork.run, fork.version)));
    }
    if let Some(earlier) = &state.continues {
        rows.push(("continues", format!("run {}", earlier.run)));
    }
    if !report.children.is_empty() {
        let children = report.list_children().into_iter();
        let children = children
            .map(|child| format!("{} ({})", name_run(&child.run, &child.title), child.status));
        rows.push(("children", children.collect::<Vec<_>>().join(", ")));
    }
    page.push('\n');
    for (name, value) in rows {
        page.push_str(&format!("{DIM}{name:<12}{DIM:#}{value}\n"));
    }
    page
}

/// Names a run by its id, and by its title if it has one.
fn name_run(run: &str, title: &str) -> String {
    if title.is_empty() { run.to_owned() } else { format!("{run} \u{201c}{title}\u{201d}") }
}

/// Begins a sentence.
fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Describes why the run ended or stopped, if there is a recorded reason.
fn describe_reason(state: &RunState) -> Option<String> {
    if let Some((end, reason)) = &state.end {
        let how = match end {
            RunEndKind::Completed => return reason.clone(),
            RunEndKind::Failed => "Failed",
            RunEndKind::Cancelled => "Cancelled by a person",
        };
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        return Some(format!("{BAD}{how}{BAD:#}{reason}"));
    }
    if let Some((by, reason)) = &state.halted {
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        let run = &state.run;
        return Some(format!("Halted by {by}{reason}. Resume it with: countersign resume {run}"));
    }
    match &state.blocked {
        Some(BlockReason::Budget { budget, limit }) => {
            Some(format!("{BAD}Blocked{BAD:#}: the budget `{budget}` of {limit} is spent."))
        }
        Some(BlockReason::Refused) => {
            Some(format!("{BAD}Blocked{BAD:#}: every reply of the model was refused."))
        }
        Some(BlockReason::MissingTicket { phase, ticket }) => Some(format!(
            "{BAD}Blocked{BAD:#}: phase {phase} needs the ticket {ticket}, which the run does not have"
        )),
        Some(BlockReason::Incident { message: what }) => {
            Some(format!("{BAD}Blocked{BAD:#}: {what}"))
        }
        None => None,
    }
}

fn write_outputs(page: &mut String, products: &[RunOutputView], run: &str) {
    for one in products {
        page.push_str(&format!("\n{HEADING}{}{HEADING:#}\n", run_outputs::format_title(one, run)));
        for line in run_outputs::format_value(one).lines() {
            page.push_str(format!("  {line}").trim_end());
            page.push('\n');
        }
    }
}

fn write_waits(page: &mut String, state: &RunState, now: Timestamp) {
    if state.waits.is_empty() {
        return;
    }
    page.push_str(&format!("\n{HEADING}Waits for a person{HEADING:#}\n"));
    for wait in state.waits.values() {
        let deadline = wait
            .deadline
            .map_or_else(String::new, |at| format!(" {DIM}({}){DIM:#}", format_until(now, at)));
        let who = if wait.who.is_empty() {
            String::new()
        } else {
            format!(" for {}", format_assignees(&wait.who))
        };
        page.push_str(&format!(
            "  {HEADING}{}{HEADING:#}  {}{who}: {}{deadline}\n",
            wait.id,
            wait.kind.as_str(),
            wait.question,
        ));
        if let Some(shape) = wait_text::describe_answer(wait) {
            page.push_str(&format!("      {shape}\n"));
        }
        page.push_str(&format!(
            "      {DIM}{}{DIM:#}\n",
            wait_text::answer_command(&state.run, wait)
        ));
    }
}

fn write_closed_gates(page: &mut String, state: &RunState, now: Timestamp) {
    if state.closed_gates.is_empty() {
        return;
    }
    page.push_str(&format!("\n{HEADING}Closed gates{HEADING:#}\n"));
    for gate in &state.closed_gates {
        let tries = if gate.attempts > 0 {
            format!(", checked {} times", gate.attempts)
        } else {
            String::new()
        };
        page.push_str(&format!("  → {}: {}{tries}\n", gate.to, gate.reason));
    }
    if let Some(at) = state.retry_at {
        page.push_str(&format!("  {DIM}next check {}{DIM:#}\n", format_until(now, at)));
    }
}

fn write_pending_actions(page: &mut String, state: &RunState, now: Timestamp) {
    if state.pending.is_empty() {
        return;
    }
    page.push_str(&format!("\n{HEADING}Pending actions{HEADING:#}\n"));
    for (id, order) in &state.pending {
        let later = order.not_before().filter(|at| *at > now);
        let later = later.map_or_else(String::new, |at| format!(", {}", format_until(now, at)));
        page.push_str(&format!("  {}{later} {DIM}(action {id}){DIM:#}\n", describe_action(order)));
    }
}

fn write_budgets(page: &mut String, budgets: &[BudgetStatus]) {
    if budgets.is_empty() {
        return;
    }
    let rows: Vec<[String; 3]> = budgets
        .iter()
        .map(|one| {
            let granted = if one.granted > 0 {
                format!(", {} of it granted", format_amount(&one.name, one.granted))
            } else {
                String::new()
            };
            let of = format!(
                "{} of {}{granted}",
                format_amount(&one.name, one.spent),
                format_amount(&one.name, one.limit)
            );
            [format!("  {}", one.name), render_bar(one.spent, one.limit), of]
        })
        .collect();
    page.push_str(&format!("\n{}", render_table(["Budgets", "", ""], &rows)));
}

/// Renders a bar of ten boxes. One is full as soon as anything is spent, and all only if everything
/// is.
fn render_bar(spent: u64, most: u64) -> String {
    const BAR_WIDTH: u64 = 10;
    let full = match (spent, most) {
        (0, _) => 0,
        (_, 0) => BAR_WIDTH,
        _ if spent >= most => BAR_WIDTH,
        _ => (u128::from(spent) * u128::from(BAR_WIDTH) / u128::from(most)).clamp(1, 9) as u64,
    };
    let style = if full == BAR_WIDTH { BAD } else { GOOD };
    let (full, empty) = (full as usize, (BAR_WIDTH - full) as usize);
    format!("{style}{}{style:#}{DIM}{}{DIM:#}", "■".repeat(full), "□".repeat(empty))
}

/// Formats an amount in the unit of its budget.
fn format_amount(name: &str, amount: u64) -> String {
    match name.split('@').next().unwrap_or(name) {
        "money" => format_money(amount),
        "wall_time" => format_duration(amount),
        _ => amount.to_string(),
    }
}

fn format_money(millionths: u64) -> String {
    format!("{:.4}", millionths as f64 / 1e6)
}

fn describe_model_usage(report: &RunStatusReport) -> String {
    let state = &report.outcome.state;
    let (input, output, cost) = report.usage;
    if state.model_calls == 0 {
        return "no calls".to_owned();
    }
    let mut text =
        format!("{} {}", state.model_calls, if state.model_calls == 1 { "call" } else { "calls" });
    if input + output > 0 {
        text.push_str(&format!(", {input} tokens in, {output} out"));
    }
    if cost > 0 {
        text.push_str(&format!(", {} spent", format_money(cost)));
    }
    if let Some(last) = &state.last_reply {
        let tries = if last.attempt == 1 { "attempt" } else { "attempts" };
        text.push_str(&format!(
            "; the last reply, in {}, took {} {tries}",
            truncate_line(&last.phase, 40),
            last.attempt
        ));
        if last.repairs > 0 {
            text.push_str(&format!(" and {} repairs", last.repairs));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_the_first_and_the_last_of_a_budget() {
        for (spent, most, shown) in [
            (0, 10, "□□□□□□□□□□"),
            (1, 1_000_000, "■□□□□□□□□□"),
            (5, 10, "■■■■■□□□□□"),
            (999_999, 1_000_000, "■■■■■■■■■□"),
            (10, 10, "■■■■■■■■■■"),
            (u64::MAX, u64::MAX - 1, "■■■■■■■■■■"),
            (0, 0, "□□□□□□□□□□"),
        ] {
            assert_eq!(
                crate::style::strip_styles(&render_bar(spent, most)),
                shown,
                "{spent} of {most}"
            );
        }
    }
}
