//! Compares the rows that a store keeps beside a run's log with the log: the head columns, open
//! waits and actions, idempotency keys, the next wake-up, exchange bytes, and snapshots.
//!
//! The hash chain and the decisions are checked in `integrity`. Verification is read-only.

use std::collections::BTreeMap;

use countersign_contract::json::{RepairKind, RepairLevel, parse_json};
use countersign_models::reparse_texts;
use countersign_protocol::Protocol;
use countersign_run::{
    ExchangeDigests, InputKind, ModelReply, RunEvent, RunLogEntry, RunState, Timestamp, fold_entry,
    next_alarm_after,
};
use countersign_store::{NewRun, RunHead, RunHeadUpdate, RunId, WaitFilter};
use serde_json::Value;

use crate::engine::{Engine, EngineError, collect_search_terms, commit_rows};
use crate::integrity::{IntegrityError, compute_blob_digest};

/// How long a run may be deferred past its alarms, in milliseconds. A run that no worker can
/// process is checked again after this time.
const MAX_DEFERRAL_MS: i64 = 60_000;

/// Returns the first difference, or `None` if all rows agree. The log must have been read and
/// folded before.
pub(crate) async fn compare_rows(
    engine: &Engine,
    run: &RunId,
    head: &RunHead,
    log: &[RunLogEntry],
    state: &RunState,
    protocol: &Protocol,
) -> Result<Option<IntegrityError>, EngineError> {
    if let Some(flaw) = compare_head(head, log, state, protocol) {
        return Ok(Some(flaw));
    }
    let found = engine.store().load_search_terms(run).await?;
    if let Some(flaw) = compare_search_terms(&found, &collect_search_terms(protocol, state)) {
        return Ok(Some(flaw));
    }
    if let Some(flaw) = compare_wake_up(head, state, protocol, engine.clock().now()) {
        return Ok(Some(flaw));
    }
    let flaw = compare_waits(engine, run, state).await?;
    let flaw = if flaw.is_some() { flaw } else { compare_actions(engine, run, state).await? };
    let flaw = if flaw.is_some() { flaw } else { compare_keys(engine, run, log).await? };
    let flaw =
        if flaw.is_some() { flaw } else { compare_snapshots(engine, run, log, state).await? };
    if flaw.is_some() {
        return Ok(flaw);
    }
    compare_exchanges(engine, run, log).await
}

/// Compares the columns of the run's head row.
fn compare_head(
    head: &RunHead,
    log: &[RunLogEntry],
    state: &RunState,
    protocol: &Protocol,
) -> Option<IntegrityError> {
    let RunHeadUpdate {
        status,
        phase,
        updated_at,
        summary,
        title,
        asks,
        ended_at,
        input_tokens,
        output_tokens,
        cost,
    } = commit_rows::build_head_update(state);
    let NewRun { protocol_version, started_by, parent, .. } =
        commit_rows::build_new_run(protocol, state);
    let name = |name: Option<String>| name.unwrap_or_else(|| "none".to_owned());
    let end = |at: Option<i64>| name(at.map(|at| Timestamp(at).to_string()));
    let hash = log.last().map_or_else(String::new, |last| last.hash.clone());
    let time = |at: i64| Timestamp(at).to_string();
    let columns = [
        ("last event", head.seq.to_string(), state.seq.to_string()),
        ("version", head.version.to_string(), state.version.to_string()),
        ("hash", head.hash.clone(), hash),
        ("protocol", head.protocol.clone(), state.protocol.clone()),
        ("workflow", head.workflow.clone(), state.workflow.clone()),
        ("phase", head.phase.clone(), phase),
        ("status", head.status.clone(), status),
        ("summary", head.summary.clone(), summary),
        ("title", head.title.clone(), title),
        ("names that are asked", head.asks.clone(), asks),
        ("version of the protocol", head.protocol_version.clone(), protocol_version),
        ("starter", name(head.started_by.clone()), name(started_by)),
        ("parent", name(head.parent.clone()), name(parent)),
        ("time of the end", end(head.ended_at), end(ended_at)),
        ("input tokens", head.input_tokens.to_string(), input_tokens.to_string()),
        ("output tokens", head.output_tokens.to_string(), output_tokens.to_string()),
        ("cost", head.cost.to_string(), cost.to_string()),
        ("time of creation", time(head.created_at), state.created_at.to_string()),
        ("time of the last change", time(head.updated_at), time(updated_at)),
    ];
    if let Some((what, found, expected)) =
        columns.into_iter().find(|(_, found, expected)| found != expected)
    {
        return Some(IntegrityError::HeadMismatch { what, found, expected });
    }
    // The log does not record who works on a run. Each acquisition raises the epoch, and each
    // worker that died had acquired the run.
    let fewest = head.deaths.max(1);
    let lease = head.lease.as_ref().filter(|lease| lease.epoch < fewest)?;
    let expected = format!("at least {fewest}");
    Some(IntegrityError::RowMismatch {
        what: "lease epoch".to_owned(),
        found: lease.epoch.to_string(),
        expected,
    })
}

/// Compares the words that the run is found by; the first difference names one.
fn compare_search_terms(found: &[String], expected: &[String]) -> Option<IntegrityError> {
    let missing = expected.iter().find(|term| found.binary_search(term).is_err());
    let surplus = found.iter().find(|term| expected.binary_search(term).is_err());
    let (found, expected) = match (missing, surplus) {
        (Some(term), _) => ("none".to_owned(), format!("`{term}`")),
        (None, Some(term)) => (format!("`{term}`"), "none".to_owned()),
        (None, None) => return None,
    };
    Some(IntegrityError::RowMismatch { what: "search terms".to_owned(), found, expected })
}

/// Checks that a run does not sleep past its next alarm. A run that is due, or that a worker
/// deferred for a while, may have any wake-up time up to then, because the worker that loads it
/// finds the alarm.
fn compare_wake_up(
    head: &RunHead,
    state: &RunState,
    protocol: &Protocol,
    now: Timestamp,
) -> Option<IntegrityError> {
    let alarm = next_alarm_after(protocol, state, now);
    let latest = match (head.wake_at, alarm) {
        (None, None) => return None,
        (Some(at), _) if at <= now.plus_millis(MAX_DEFERRAL_MS).0 => return None,
        (_, alarm) => alarm,
    };
    if head.wake_at.is_some() && head.wake_at.map(Timestamp) <= latest {
        return None;
    }
    let to_text = |at: Option<Timestamp>| at.map_or_else(|| "none".to_owned(), |at| at.to_string());
    let (found, expected) = (to_text(head.wake_at.map(Timestamp)), to_text(latest));
    Some(IntegrityError::RowMismatch { what: "next wake-up".to_owned(), found, expected })
}

/// Compares the open waits field by field: question, answer shape, assignee, deadline.
async fn compare_waits(
    engine: &Engine,
    run: &RunId,
    state: &RunState,
) -> Result<Option<IntegrityError>, EngineError> {
    let mut filter = WaitFilter::all(run.tenant.clone(), usize::MAX);
    filter.run = Some(run.id.clone());
    let found = engine.store().list_waits(&filter).await?;
    let mut found: BTreeMap<_, _> = found.into_iter().map(|row| (row.id.clone(), row)).collect();
    if let Some(flaw) = compare_ids("open waits", found.keys(), state.waits.keys()) {
        return Ok(Some(flaw));
    }
    for (id, wait) in &state.waits {
        let expected = commit_rows::build_wait_row(run, wait);
        let Some(row) = found.remove(id) else { continue };
        let time =
            |at: Option<i64>| at.map_or_else(|| "none".to_owned(), |at| Timestamp(at).to_string());
        let who = |who: Vec<String>| {
            if who.is_empty() { "everybody".to_owned() } else { who.join(", ") }
        };
        let fields = [
            ("kind", row.kind, expected.kind),
            ("opening time", time(Some(row.opened_at)), time(Some(expected.opened_at))),
            ("deadline", time(row.deadline), time(expected.deadline)),
            ("addressee", who(row.who), who(expected.who)),
            ("text", row.body, expected.body),
        ];
        if let Some((field, found, expected)) = fields.into_iter().find(|(_, one, two)| one != two)
        {
            let what = format!("{field} of wait {id}");
            return Ok(Some(IntegrityError::RowMismatch { what, found, expected }));
        }
    }
    Ok(None)
}

/// Compares the pending actions field by field.
async fn compare_actions(
    engine: &Engine,
    run: &RunId,
    state: &RunState,
) -> Result<Option<IntegrityError>, EngineError> {
    let found = engine.store().list_actions(run).await?;
    let mut found: BTreeMap<_, _> = found.into_iter().map(|row| (row.id.clone(), row)).collect();
    if let Some(flaw) = compare_ids("pending actions", found.keys(), state.pending.keys()) {
        return Ok(Some(flaw));
    }
    for (id, order) in &state.pending {
        let expected = commit_rows::build_action_row(id, order);
        let Some(row) = found.remove(id) else { continue };
        for (field, found, expected) in
            [("kind", row.kind, expected.kind), ("text", row.body, expected.body)]
        {
            if found != expected {
                let what = format!("{field} of action {id}");
                return Ok(Some(IntegrityError::RowMismatch { what, found, expected }));
            }
        }
    }
    Ok(None)
}

/// Compares the idempotency keys: each input has its own key at its version, and there are no
/// others.
async fn compare_keys(
    engine: &Engine,
    run: &RunId,
    log: &[RunLogEntry],
) -> Result<Option<IntegrityError>, EngineError> {
    let mut expected = BTreeMap::new();
    for one in log {
        if let Some(RunEvent::InputReceived { input }) =
            one.decode_events(&run.id).unwrap_or_default().first()
            && let Some(key) = &input.idempotency_key
        {
            expected.insert(key.clone(), one.version);
        }
    }
    let found: BTreeMap<_, _> = engine.store().list_keys(run).await?.into_iter().collect();
    let differs =
        found.keys().chain(expected.keys()).find(|key| found.get(*key) != expected.get(*key));
    let to_text = |at: Option<&u64>| at.map_or_else(|| "none".to_owned(), u64::to_string);
    Ok(differs.map(|key| IntegrityError::RowMismatch {
        what: format!("version of the idempotency key `{key}`"),
        found: to_text(found.get(key)),
        expected: to_text(expected.get(key)),
    }))
}

/// Checks that every snapshot holds the state and the hash that the log had at that version, and
/// that the events after the newest snapshot lead to the current state. Reads of old versions and
/// forks start from snapshots.
async fn compare_snapshots(
    engine: &Engine,
    run: &RunId,
    log: &[RunLogEntry],
    state: &RunState,
) -> Result<Option<IntegrityError>, EngineError> {
    let mut versions = Vec::new();
    let mut until = state.version;
    while let Some(loaded) = engine.store().load_run(run, Some(until)).await?
        && let Some(row) = loaded.snapshot
    {
        versions.push(row.version);
        let Some(before) = row.version.checked_sub(1).filter(|version| *version > 0) else { break };
        until = before;
    }
    let mut then = RunState::new(&run.id);
    for one in log {
        // The log was folded before, so folding it again cannot fail.
        let folds = fold_entry(&mut then, &one.body).is_ok();
        if versions.last() != Some(&one.version) {
            continue;
        }
        versions.pop();
        if !folds || !matches_loaded_state(engine, run, &then, Some(&one.hash)).await? {
            return Ok(Some(IntegrityError::SnapshotMismatch));
        }
    }
    let newest = matches_loaded_state(engine, run, state, None).await?;
    Ok((!versions.is_empty() || !newest).then_some(IntegrityError::SnapshotMismatch))
}

/// Returns whether the state loaded for a version equals `state`, and has the given hash if there
/// is one.
async fn matches_loaded_state(
    engine: &Engine,
    run: &RunId,
    state: &RunState,
    hash: Option<&String>,
) -> Result<bool, EngineError> {
    match engine.load_version(&run.id, Some(state.version)).await {
        Ok(live) => Ok(*live.state == *state && hash.is_none_or(|hash| live.hash == *hash)),
        Err(EngineError::Corrupt { .. }) => Ok(false),
        Err(other) => Err(other),
    }
}

/// Compares the bytes that were sent and received, and the text that was extracted from them.
async fn compare_exchanges(
    engine: &Engine,
    run: &RunId,
    log: &[RunLogEntry],
) -> Result<Option<IntegrityError>, EngineError> {
    for one in log {
        let version = one.version;
        let events = one.decode_events(&run.id).unwrap_or_default();
        let Some(RunEvent::InputReceived { input }) = events.into_iter().next() else { continue };
        let (exchange, reply) = match input.payload {
            InputKind::ModelReplied(mut reply) => (reply.exchange.take(), Some(reply)),
            InputKind::ModelFailed { exchange, .. } => (exchange, None),
            _ => continue,
        };
        let Some(ExchangeDigests { request, response }) = exchange else { continue };
        let mut received = Vec::new();
        for digest in [request, response] {
            let found = match engine.store().load_blob(&run.tenant, &digest).await? {
                None => "missing",
                Some(bytes) if compute_blob_digest(&bytes) != digest => "different",
                Some(bytes) => {
                    received = bytes;
                    continue;
                }
            };
            return Ok(Some(IntegrityError::BlobMismatch { version, digest, found }));
        }
        if reply.is_some_and(|reply| !is_reply_in_response(&received, &reply)) {
            return Ok(Some(IntegrityError::ReplyMismatch { version }));
        }
    }
    Ok(None)
}

/// Returns whether a response contains the text of a reply. A response that no wire format can
/// parse counts as a match.
fn is_reply_in_response(response: &[u8], reply: &ModelReply) -> bool {
    let texts = reparse_texts(response);
    // Ignore nulls that mean absence only if the reply records that repair.
    let repaired = reply.repairs.iter().any(|repair| repair.kind == RepairKind::NullForAbsent);
    let kept = repaired.then(|| strip_nulls(&reply.text)).flatten();
    let same = |text: &String| *text == reply.text || kept.is_some() && strip_nulls(text) == kept;
    texts.is_empty() || texts.iter().any(same)
}

fn strip_nulls(text: &str) -> Option<Value> {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::Object(members) => {
                members.retain(|_, member| !member.is_null());
                members.values_mut().for_each(strip);
            }
            _ => {}
        }
    }
    let mut value = parse_json(text, RepairLevel::None).ok()?.value;
    strip(&mut value);
    Some(value)
}

fn compare_ids<'a>(
    what: &'static str,
    found: impl Iterator<Item = &'a String>,
    expected: impl Iterator<Item = &'a String>,
) -> Option<IntegrityError> {
    let listed = |ids: Vec<&str>| if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
    let found = listed(found.map(String::as_str).collect());
    let expected = listed(expected.map(String::as_str).collect());
    (found != expected).then_some(IntegrityError::HeadMismatch { what, found, expected })
}
