//! Stores memory inputs one by one: an item that the rules refuse does not block the others.

use countersign_memory::MemoryScope;
use countersign_memory::record::{MemoryEvent, SessionSummary, WorkingMemory};
use countersign_memory::rules::{ClaimOutcome, MemoryRefusal};
use countersign_memory::store::{ClaimReceipt, Memory, MemoryError, NewMemoryEvent};
use countersign_run::Timestamp;
use countersign_shipped_contracts::JsonObject;
use countersign_shipped_contracts::memory::short_term::{OpenLoop, WorkingState};
use serde_json::Value;

use super::{MemoryWrite, describe_claim_kind};

/// Number of events per commit.
const BATCH_SIZE: usize = 1_000;

/// Stores items. Each has a number, such as its line, that the report refers to.
pub async fn ingest_items(
    memory: &dyn Memory,
    things: Vec<(usize, MemoryWrite)>,
    now: Timestamp,
) -> Result<IngestReport, MemoryError> {
    let mut account = IngestReport::default();
    let mut events: Vec<(usize, NewMemoryEvent)> = Vec::new();
    for (line, thing) in things {
        if let MemoryWrite::Event(event) = thing {
            events.push((line, event));
            if events.len() == BATCH_SIZE {
                save_events(memory, std::mem::take(&mut events), now, &mut account).await?;
            }
            continue;
        }
        // Save pending events first, because an item may cite them.
        save_events(memory, std::mem::take(&mut events), now, &mut account).await?;
        match save_item(memory, thing, now).await {
            Ok(kept) => account.saved.push(kept),
            Err(error) => account.record_refusal(line, error)?,
        }
    }
    save_events(memory, events, now, &mut account).await?;
    Ok(account)
}

/// The result of an ingestion.
#[derive(Debug, Default)]
pub struct IngestReport {
    /// The items that were stored, or were known already.
    pub saved: Vec<IngestedItem>,
    /// The items that the rules refused: number and reason.
    pub refused: Vec<(usize, String)>,
}

impl IngestReport {
    /// Records a refusal; any other error is returned.
    fn record_refusal(&mut self, line: usize, error: MemoryError) -> Result<(), MemoryError> {
        match error {
            MemoryError::Refused(_) | MemoryError::Conflict { .. } => {
                self.refused.push((line, error.to_string()));
                Ok(())
            }
            other => Err(other),
        }
    }
}

/// An item that is now in the memory.
#[derive(Debug)]
pub struct IngestedItem {
    /// The kind of item, such as `event` or `fact`.
    pub kind: &'static str,
    /// Id of the stored item.
    pub id: String,
    /// Revision of the item; 1 for the first.
    pub revision: u64,
    /// How the item relates to what was known before.
    pub outcome: ClaimOutcome,
}

async fn save_events(
    memory: &dyn Memory,
    events: Vec<(usize, NewMemoryEvent)>,
    now: Timestamp,
    account: &mut IngestReport,
) -> Result<(), MemoryError> {
    let (lines, events): (Vec<usize>, Vec<NewMemoryEvent>) = events.into_iter().unzip();
    let done = |event: MemoryEvent| {
        let known = event.recorded_at != now;
        let outcome =
            if known { ClaimOutcome::Supported(event.id.clone()) } else { ClaimOutcome::Added };
        IngestedItem { kind: "event", id: event.id, revision: 1, outcome }
    };
    match memory.append_events(events.clone()).await {
        Ok(kept) => account.saved.extend(kept.into_iter().map(done)),
        // One event was refused and none was stored: save them one by one.
        Err(MemoryError::Refused(_)) => {
            for (line, event) in lines.into_iter().zip(events) {
                match memory.append_events(vec![event]).await {
                    Ok(kept) => account.saved.extend(kept.into_iter().map(done)),
                    Err(error) => account.record_refusal(line, error)?,
                }
            }
        }
        Err(other) => return Err(other),
    }
    Ok(())
}

async fn save_item(
    memory: &dyn Memory,
    thing: MemoryWrite,
    now: Timestamp,
) -> Result<IngestedItem, MemoryError> {
    match thing {
        MemoryWrite::Claim { scope, claim, origin, assurance } => {
            let kind = describe_claim_kind(&claim);
            let ClaimReceipt { id, revision, outcome } =
                memory.record_claim(&scope, claim, origin, assurance, now).await?;
            Ok(IngestedItem { kind, id, revision: revision.into(), outcome })
        }
        MemoryWrite::WorkingMemory { scope, state, expected_version: seen } => {
            let expected = match seen {
                Some(seen) => seen,
                None => load_state_version(memory, &scope).await?,
            };
            let working = parse_working_state(state, expected, now)?;
            let revision = memory.write_working_memory(&scope, expected, working).await?;
            let id = scope.run().to_owned();
            Ok(IngestedItem {
                kind: "working state of run",
                id,
                revision,
                outcome: ClaimOutcome::Added,
            })
        }
        MemoryWrite::Summary { scope, text, quotes, by } => {
            if by.is_some() && is_written_by_person(memory, &scope, now).await? {
                let part = "summary".to_owned();
                let expected = "left unchanged, because a person wrote it".to_owned();
                return Err(MemoryError::Refused(MemoryRefusal::Malformed { part, expected }));
            }
            let summary = SessionSummary {
                revision: 1,
                text,
                quotes,
                sources: Vec::new(),
                written_by: by,
                covered_position: 0,
                recorded_at: now,
            };
            let revision = memory.write_summary(&scope, summary).await?.into();
            let id = scope.session().to_owned();
            Ok(IngestedItem {
                kind: "summary of session",
                id,
                revision,
                outcome: ClaimOutcome::Added,
            })
        }
        MemoryWrite::Event(_) => unreachable!("events are recorded in batches"),
    }
}

/// Returns the latest version of a run's working state; 0 before the first.
async fn load_state_version(memory: &dyn Memory, scope: &MemoryScope) -> Result<u64, MemoryError> {
    Ok(memory.load_working_memory(scope).await?.map_or(0, |working| working.state.state_version))
}

/// Returns whether a person wrote the summary of a session.
async fn is_written_by_person(
    memory: &dyn Memory,
    scope: &MemoryScope,
    now: Timestamp,
) -> Result<bool, MemoryError> {
    let previous = memory.load_summary_input(scope, now).await?.previous;
    Ok(previous.is_some_and(|summary| summary.written_by.is_none()))
}

/// Parses a working state in the form that packets have, with `open_loops` as a further member.
fn parse_working_state(
    mut state: JsonObject,
    version: u64,
    now: Timestamp,
) -> Result<WorkingMemory, MemoryError> {
    let malformed = |part: &str, error: &serde_json::Error| {
        let expected = format!("in the form that packets use: {error}");
        MemoryError::Refused(MemoryRefusal::Malformed { part: part.to_owned(), expected })
    };
    let open_loops: Vec<OpenLoop> = match state.remove("open_loops") {
        None => Vec::new(),
        Some(list) => {
            serde_json::from_value(list).map_err(|error| malformed("open_loops", &error))?
        }
    };
    state.insert("state_version".to_owned(), version.into());
    let state: WorkingState = serde_json::from_value(Value::Object(state))
        .map_err(|error| malformed("working_memory", &error))?;
    Ok(WorkingMemory { state, open_loops, recorded_at: now })
}
