//! `countersign status [RUN]`: where a run stands, and why.

use countersign_core::protocol::Bundle;
use countersign_core::run::{Blocked, EndKind, State, Time};
use countersign_runtime::folder;
use countersign_server::show::{Product, Spending, Standing, order_told, products, waiting};
use countersign_server::wire::RunStatus;
use serde_json::json;

use crate::args::Status;
use crate::elapsed::{ago, moment, stretch, until};
use crate::exit::{Error, Exit};
use crate::house::{House, load_bundle, wait};
use crate::show::{BAD, DIM, GOOD, HEADING, status_style};
use crate::table::table;
use crate::{output, product};
use countersign_server::show::{describe_parking, shortened};

pub(super) fn run(args: &Status, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::look(&args.site)?;
        let run = house.run(args.run.as_deref()).await?;
        let outcome = house.engine.look(&run).await?;
        let log = house.engine.log(&run).await?;
        let now = house.engine.clock().now();
        let bundle = house.protocol_folder().ok().and_then(|folder| folder::read(&folder).ok());
        // Another protocol, beside a run of one that ships, is nothing to compare it with.
        let other = |bundle: &Bundle| {
            load_bundle(bundle.clone()).is_ok_and(|(found, _)| found.name != outcome.protocol.name)
        };
        let digest = bundle.filter(|bundle| !other(bundle)).map(|bundle| bundle.digest());
        let products = products(&house.engine, &run).await?;
        let head = house.engine.store().head(&house.engine.run_id(&run)).await?;
        let parked = head.and_then(|head| describe_parking(&head, now));
        let standing = Standing::of(outcome, &log, now, digest.as_deref(), products);
        let standing = standing.with_parking(parked);
        if json {
            output::json(&json!(RunStatus::from(&standing)));
        } else {
            output::data(&page(&standing, now));
        }
        Ok(Exit::Good)
    })
}

fn page(standing: &Standing, now: Time) -> String {
    let (state, protocol) = (&standing.outcome.state, &standing.outcome.protocol);
    let status = state.status();
    let style = status_style(status);
    let mut page = format!(
        "run {HEADING}{}{HEADING:#} of workflow {}: {style}{}{style:#} in phase {HEADING}{}{HEADING:#} for {}\n",
        state.run,
        state.workflow,
        status.as_str(),
        state.phase,
        stretch(now.since(state.entered_at)),
    );
    if let Some(parked) = &standing.parked {
        page.push_str(&format!("{BAD}{parked}{BAD:#}\n"));
    }
    if let Some(why) = why(state) {
        page.push_str(&format!("{why}\n"));
    }
    made(&mut page, &standing.products, &state.run);
    waits(&mut page, state, now);
    gates(&mut page, state, now);
    orders(&mut page, state, now);
    budgets(&mut page, &standing.budgets);
    let mut rows: Vec<(&str, String)> = vec![
        ("version", format!("{}, {} events", state.version, state.seq)),
        ("began", format!("{} ({})", moment(state.created_at), ago(now, state.created_at))),
        ("changed", format!("{} ({})", moment(state.updated_at), ago(now, state.updated_at))),
    ];
    if let Some(at) = standing.next_alarm {
        rows.push(("next alarm", format!("{} ({})", moment(at), until(now, at))));
    }
    if !state.tickets.is_empty() {
        let tickets: Vec<&str> = state.tickets.iter().map(String::as_str).collect();
        rows.push(("tickets", tickets.join(", ")));
    }
    rows.push(("models", models(standing)));
    rows.push(("document", format!("{} bytes", standing.document_bytes)));
    let digest = protocol.digest.strip_prefix("sha256:").unwrap_or(&protocol.digest);
    let changed = match standing.folder_changed {
        Some(true) => ", and the folder has changed since: this run keeps what it began with",
        Some(false) => ", as it is in the folder",
        None => "",
    };
    let short = digest.get(..12).unwrap_or(digest);
    rows.push(("protocol", format!("{} {} ({short}){changed}", protocol.name, protocol.version)));
    if let Some(parent) = &state.parent {
        rows.push(("parent", format!("run {}, which waits for this one", parent.run)));
    }
    if let Some(fork) = &state.fork {
        rows.push(("forked from", format!("{}@{}", fork.run, fork.version)));
    }
    if !standing.children.is_empty() {
        let told = standing.children.iter().map(|(run, completed)| match completed {
            None => format!("{run} (open)"),
            Some(true) => format!("{run} (completed)"),
            Some(false) => format!("{run} (failed)"),
        });
        rows.push(("children", told.collect::<Vec<_>>().join(", ")));
    }
    page.push('\n');
    for (name, value) in rows {
        page.push_str(&format!("{DIM}{name:<12}{DIM:#}{value}\n"));
    }
    page
}

/// Why it stands where it stands, where somebody or something made it.
fn why(state: &State) -> Option<String> {
    if let Some((end, reason)) = &state.end {
        let how = match end {
            EndKind::Completed => return reason.clone(),
            EndKind::Failed => "It failed",
            EndKind::Cancelled => "It was ended by a person",
        };
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        return Some(format!("{BAD}{how}{BAD:#}{reason}"));
    }
    if let Some((by, reason)) = &state.halted {
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        let run = &state.run;
        return Some(format!(
            "Halted by {by}{reason}. Let it go on with: countersign resume {run}"
        ));
    }
    match &state.blocked {
        Some(Blocked::Budget { budget, limit }) => {
            Some(format!("{BAD}Blocked{BAD:#}: the budget `{budget}` of {limit} is spent."))
        }
        Some(Blocked::Refused) => {
            Some(format!("{BAD}Blocked{BAD:#}: every try of the model's step was refused."))
        }
        Some(Blocked::NoTicket { phase, ticket }) => Some(format!(
            "{BAD}Blocked{BAD:#}: phase {phase} needs the ticket {ticket}, which the run does not hold"
        )),
        Some(Blocked::Trouble { what }) => Some(format!("{BAD}Blocked{BAD:#}: {what}")),
        None => None,
    }
}

fn made(page: &mut String, products: &[Product], run: &str) {
    for one in products {
        page.push_str(&format!("\n{HEADING}{}{HEADING:#}\n", product::title(one, run)));
        for line in product::text(one).lines() {
            page.push_str(format!("  {line}").trim_end());
            page.push('\n');
        }
    }
}

fn waits(page: &mut String, state: &State, now: Time) {
    if state.waits.is_empty() {
        return;
    }
    page.push_str(&format!("\n{HEADING}Waits for a person{HEADING:#}\n"));
    for wait in state.waits.values() {
        let deadline = wait
            .deadline
            .map_or_else(String::new, |at| format!(" {DIM}({}){DIM:#}", until(now, at)));
        let who = wait.who.as_ref().map_or_else(String::new, |who| format!(" for {who}"));
        page.push_str(&format!(
            "  {HEADING}{}{HEADING:#}  {}{who}: {}{deadline}\n",
            wait.id,
            wait.kind.as_str(),
            wait.question,
        ));
        if let Some(shape) = waiting::shape(wait) {
            page.push_str(&format!("      {shape}\n"));
        }
        page.push_str(&format!("      {DIM}{}{DIM:#}\n", waiting::answered_by(&state.run, wait)));
    }
}

fn gates(page: &mut String, state: &State, now: Time) {
    if state.closed.is_empty() {
        return;
    }
    page.push_str(&format!("\n{HEADING}Closed gates{HEADING:#}\n"));
    for gate in &state.closed {
        let tries = if gate.attempts > 0 {
            format!(", asked {} times", gate.attempts)
        } else {
            String::new()
        };
        page.push_str(&format!("  → {}: {}{tries}\n", gate.to, gate.reason));
    }
    if let Some(at) = state.again_at {
        page.push_str(&format!("  {DIM}asked again {}{DIM:#}\n", until(now, at)));
    }
}

fn orders(page: &mut String, state: &State, now: Time) {
    if state.pending.is_empty() {
        return;
    }
    page.push_str(&format!("\n{HEADING}To be done{HEADING:#}\n"));
    for (id, order) in &state.pending {
        let later = order.not_before().filter(|at| *at > now);
        let later = later.map_or_else(String::new, |at| format!(", {}", until(now, at)));
        page.push_str(&format!("  {}{later} {DIM}(order {id}){DIM:#}\n", order_told(order)));
    }
}

fn budgets(page: &mut String, budgets: &[Spending]) {
    if budgets.is_empty() {
        return;
    }
    let rows: Vec<[String; 3]> = budgets
        .iter()
        .map(|one| {
            let granted = if one.granted > 0 {
                format!(", {} of it granted", amount(&one.name, one.granted))
            } else {
                String::new()
            };
            let of = format!(
                "{} of {}{granted}",
                amount(&one.name, one.spent),
                amount(&one.name, one.most)
            );
            [format!("  {}", one.name), bar(one.spent, one.most), of]
        })
        .collect();
    page.push_str(&format!("\n{}", table(["Budgets", "", ""], &rows)));
}

/// Ten boxes; one is full as soon as anything is spent, and all only when all is.
fn bar(spent: u64, most: u64) -> String {
    const BOXES: u64 = 10;
    let full = match (spent, most) {
        (0, _) => 0,
        (_, 0) => BOXES,
        _ if spent >= most => BOXES,
        _ => (u128::from(spent) * u128::from(BOXES) / u128::from(most)).clamp(1, 9) as u64,
    };
    let style = if full == BOXES { BAD } else { GOOD };
    let (full, empty) = (full as usize, (BOXES - full) as usize);
    format!("{style}{}{style:#}{DIM}{}{DIM:#}", "■".repeat(full), "□".repeat(empty))
}

/// An amount in the unit of its budget.
fn amount(name: &str, amount: u64) -> String {
    match name.split('@').next().unwrap_or(name) {
        "money" => money(amount),
        "wall_time" => stretch(amount),
        _ => amount.to_string(),
    }
}

fn money(millionths: u64) -> String {
    format!("{:.4}", millionths as f64 / 1e6)
}

fn models(standing: &Standing) -> String {
    let state = &standing.outcome.state;
    let (input, output, cost) = standing.usage;
    if state.calls == 0 {
        return "none was asked".to_owned();
    }
    let mut told = format!("{} {}", state.calls, if state.calls == 1 { "call" } else { "calls" });
    if input + output > 0 {
        told.push_str(&format!(", {input} tokens in, {output} out"));
    }
    if cost > 0 {
        told.push_str(&format!(", {} spent", money(cost)));
    }
    if let Some(last) = &state.last_reply {
        let tries = if last.attempt == 1 { "try" } else { "tries" };
        told.push_str(&format!(
            "; the last reply, in {}, took {} {tries}",
            shortened(&last.phase, 40),
            last.attempt
        ));
        if last.repairs > 0 {
            told.push_str(&format!(" and {} repairs", last.repairs));
        }
    }
    told
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
            assert_eq!(crate::style::plain(&bar(spent, most)), shown, "{spent} of {most}");
        }
    }
}
