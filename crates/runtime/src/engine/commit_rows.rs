//! Converts a step into rows for the store: its log entry, actions, waits, and the run's head.

use countersign_protocol::Protocol;
use countersign_run::{
    PendingAction, RunEndKind, RunLogEntry, RunState, RunWait, Timestamp, next_alarm,
};
use countersign_store::{ActionRow, LogEntryRow, NewRun, RunCommit, RunHeadUpdate, RunId, WaitRow};

use super::search_terms::collect_changed_terms;

/// Builds the commit of a step that is made at `now`.
pub(crate) fn build_commit(
    run: &RunId,
    protocol: &Protocol,
    before: &RunState,
    after: &RunState,
    entry: RunLogEntry,
    now: Timestamp,
) -> RunCommit {
    let head = build_head_update(after);
    let RunLogEntry { version, first_seq: first, last_seq: last, time, hash, body } = entry;
    let entry = LogEntryRow { version, first_seq: first, last_seq: last, time: time.0, hash, body };
    let mut commit = RunCommit::new(run.clone(), before.version, entry, head);
    // An action that is ready wakes a worker immediately. A worker that finds nothing it can do (a
    // running child, a reply that a person writes) suspends the run. The wake-up uses the clock,
    // not the run's time, which is ahead of a clock that was set back.
    let ready = after.ready_actions(Timestamp(commit.entry.time)).next().is_some();
    commit.wake_at =
        if ready { Some(now.0) } else { next_alarm(protocol, after).map(|time| time.0) };
    for (id, order) in &after.pending {
        if !before.pending.contains_key(id) {
            commit.actions.push(build_action_row(id, order));
        }
    }
    let gone = before.pending.keys().filter(|id| !after.pending.contains_key(*id));
    commit.finished_actions = gone.cloned().collect();
    for (id, wait) in &after.waits {
        if before.waits.get(id) != Some(wait) {
            commit.waits_opened.push(build_wait_row(run, wait));
        }
    }
    // A wait that changed is stored again: a vote, a delegation or an escalation.
    let replaced = before.waits.iter().filter(|(id, wait)| after.waits.get(*id) != Some(*wait));
    commit.waits_closed = replaced.map(|(id, _)| id.clone()).collect();
    commit.search_terms = collect_changed_terms(protocol, before, after);
    commit
}

/// Builds the columns that run lists show.
pub(crate) fn build_head_update(state: &RunState) -> RunHeadUpdate {
    RunHeadUpdate {
        status: state.status().as_str().to_owned(),
        phase: state.phase.clone(),
        updated_at: state.updated_at.0,
        summary: truncate_line(&summarize_state(state)),
        title: truncate_line(&state.title),
        asks: truncate_line(&summarize_assignees(state)),
        ended_at: state.ended_at.map(|time| time.0),
        input_tokens: state.usage.input_tokens.min(MAX_COLUMN_NUMBER),
        output_tokens: state.usage.output_tokens.min(MAX_COLUMN_NUMBER),
        cost: state.usage.cost.min(MAX_COLUMN_NUMBER),
    }
}

/// Builds the columns of a run that never change.
pub(crate) fn build_new_run(protocol: &Protocol, state: &RunState) -> NewRun {
    let name = |name: &String| Some(truncate_line(name)).filter(|name| !name.is_empty());
    NewRun {
        protocol: protocol.digest.clone(),
        workflow: state.workflow.clone(),
        created_at: state.created_at.0,
        protocol_version: truncate_line(&protocol.version),
        started_by: state.started_by.as_ref().and_then(name),
        parent: state.parent.as_ref().map(|parent| parent.run.clone()),
    }
}

/// Names everybody whom the open waits ask, each once.
fn summarize_assignees(state: &RunState) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in state.waits.values().flat_map(list_assignees) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Builds the row of a pending action.
pub(crate) fn build_action_row(id: &str, order: &PendingAction) -> ActionRow {
    let body = serde_json::to_string(order).expect("an action serializes to JSON");
    ActionRow { id: id.to_owned(), kind: order.kind().to_owned(), body }
}

/// Builds the row of an open wait.
pub(crate) fn build_wait_row(run: &RunId, wait: &RunWait) -> WaitRow {
    WaitRow {
        id: wait.id.clone(),
        run: run.clone(),
        kind: wait.kind.as_str().to_owned(),
        opened_at: wait.opened_at.0,
        deadline: wait.deadline.map(|time| time.0),
        who: list_assignees(wait),
        body: serde_json::to_string(wait).expect("a wait serializes to JSON"),
    }
}

/// Everybody whose inbox shows a wait: its assignees, and the people it was delegated to.
fn list_assignees(wait: &RunWait) -> Vec<String> {
    let delegations = wait.approval.as_ref().map_or(&[][..], |approval| &approval.delegations);
    let delegates = delegations.iter().filter(|_| !wait.who.is_empty()).map(|one| one.to.clone());
    wait.who.iter().map(ToString::to_string).chain(delegates).collect()
}

/// The largest number of tokens, or amount of money, that stores accept.
const MAX_COLUMN_NUMBER: u64 = i64::MAX as u64;

/// Maximum length of a summary in lists, in characters.
const MAX_SUMMARY_CHARS: usize = 200;

/// Shortens a text, which a model may have influenced, to one line without control characters:
/// databases reject U+0000, and terminals interpret the others.
fn truncate_line(text: &str) -> String {
    let mut letters = text.chars().map(|one| if one.is_control() { ' ' } else { one });
    let mut line: String = letters.by_ref().take(MAX_SUMMARY_CHARS).collect();
    if letters.next().is_some() {
        line.push('…');
    }
    line
}

/// Summarizes why the run is in its current status.
fn summarize_state(state: &RunState) -> String {
    if let Some((end, reason)) = &state.end {
        return match (end, reason) {
            (RunEndKind::Completed, _) => String::new(),
            (_, Some(reason)) => reason.clone(),
            (_, None) => String::new(),
        };
    }
    if let Some((by, reason)) = &state.halted {
        let why = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        return format!("halted by {by}{why}");
    }
    match state.waits.len() {
        0 => String::new(),
        1 => state.waits.values().map(|wait| wait.question.clone()).collect(),
        several => format!("{several} open waits"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_that_every_store_takes() {
        assert_eq!(truncate_line("Which\0colour?\nRed\u{1b}[2J"), "Which colour? Red [2J");
        assert_eq!(truncate_line(&"ж".repeat(200)), "ж".repeat(200));
        assert_eq!(truncate_line(&"ж".repeat(201)), format!("{}…", "ж".repeat(200)));
    }
}
