//! Keeping what was told, each thing by itself: what the rules refuse holds up nothing else.

use countersign_contracts::JsonObject;
use countersign_contracts::memory::short_term::{OpenLoop, WorkingState};
use countersign_core::run::Timestamp;
use countersign_memory::MemoryScope;
use countersign_memory::record::{MemoryClaim, MemoryEvent, SessionSummary, WorkingMemory};
use countersign_memory::rules::{ClaimOutcome, MemoryRefusal};
use countersign_memory::store::{ClaimReceipt, Memory, MemoryError, NewMemoryEvent};
use serde_json::Value;

use super::MemoryWrite;

/// So many events are kept in one commit.
const BATCH_SIZE: usize = 1_000;

/// Keeps things, each with the number it is told by.
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
        // What cites an event comes after it.
        save_events(memory, std::mem::take(&mut events), now, &mut account).await?;
        match save_item(memory, thing, now).await {
            Ok(kept) => account.saved.push(kept),
            Err(error) => account.record_refusal(line, error)?,
        }
    }
    save_events(memory, events, now, &mut account).await?;
    Ok(account)
}

/// What became of everything.
#[derive(Debug, Default)]
pub struct IngestReport {
    /// What is kept now.
    pub saved: Vec<IngestedItem>,
    /// What the rules refused: the number it was told by, and why.
    pub refused: Vec<(usize, String)>,
}

impl IngestReport {
    /// A refusal is told at the end; anything else ends it.
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

/// Something that is kept now.
#[derive(Debug)]
pub struct IngestedItem {
    /// What it is.
    pub kind: &'static str,
    /// Its id.
    pub id: String,
    /// Its revision.
    pub revision: u64,
    /// What became of it beside what was known.
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
        // One of them was refused, and none was kept: each by itself, then.
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
            let kind = match &claim {
                MemoryClaim::Fact(_) => "fact",
                MemoryClaim::Episode(_) => "episode",
                MemoryClaim::Procedure(_) => "procedure",
                MemoryClaim::Insight(_) => "insight",
            };
            let ClaimReceipt { id, revision, outcome } =
                memory.record_claim(&scope, claim, origin, assurance, now).await?;
            Ok(IngestedItem { kind, id, revision: revision.into(), outcome })
        }
        MemoryWrite::Working { scope, state, expected_version: seen } => {
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
                let expected = "left as it is where a person wrote it".to_owned();
                return Err(MemoryError::Refused(MemoryRefusal::Malformed { part, expected }));
            }
            let summary = SessionSummary {
                revision: 1,
                text,
                quotes,
                sources: Vec::new(),
                by,
                upto: 0,
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
        MemoryWrite::Event(_) => unreachable!("events are told in batches"),
    }
}

/// The latest version of a run's working state; 0 before the first.
async fn load_state_version(memory: &dyn Memory, scope: &MemoryScope) -> Result<u64, MemoryError> {
    Ok(memory.load_working_memory(scope).await?.map_or(0, |working| working.state.state_version))
}

/// Whether a person wrote the summary of a session.
async fn is_written_by_person(
    memory: &dyn Memory,
    scope: &MemoryScope,
    now: Timestamp,
) -> Result<bool, MemoryError> {
    let previous = memory.load_summary_input(scope, now).await?.previous;
    Ok(previous.is_some_and(|summary| summary.by.is_none()))
}

/// A working state of a file: as the packet has it, with `open_loops` beside the rest.
fn parse_working_state(
    mut state: JsonObject,
    version: u64,
    now: Timestamp,
) -> Result<WorkingMemory, MemoryError> {
    let malformed = |part: &str, error: &serde_json::Error| {
        let expected = format!("as in a packet: {error}");
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
        .map_err(|error| malformed("working", &error))?;
    Ok(WorkingMemory { state, open_loops, recorded_at: now })
}
