//! Keeping what was told, each thing by itself: what the rules refuse holds up nothing else.

use countersign_contracts::Object;
use countersign_contracts::memory::short_term::{OpenLoop, WorkingState};
use countersign_core::run::Time;
use countersign_memory::Scope;
use countersign_memory::record::{Claim, Event, Summary, Working};
use countersign_memory::rules::{Outcome, Refusal};
use countersign_memory::store::{Kept, Memory, MemoryError, NewEvent};
use serde_json::Value;

use super::Thing;

/// So many events are kept in one commit.
const AT_ONCE: usize = 1_000;

/// Keeps things, each with the number it is told by.
pub async fn remember(
    memory: &dyn Memory,
    things: Vec<(usize, Thing)>,
    now: Time,
) -> Result<Account, MemoryError> {
    let mut account = Account::default();
    let mut events: Vec<(usize, NewEvent)> = Vec::new();
    for (line, thing) in things {
        if let Thing::Event(event) = thing {
            events.push((line, event));
            if events.len() == AT_ONCE {
                tell(memory, std::mem::take(&mut events), now, &mut account).await?;
            }
            continue;
        }
        // What cites an event comes after it.
        tell(memory, std::mem::take(&mut events), now, &mut account).await?;
        match keep(memory, thing, now).await {
            Ok(kept) => account.kept.push(kept),
            Err(error) => account.refuse(line, error)?,
        }
    }
    tell(memory, events, now, &mut account).await?;
    Ok(account)
}

/// What became of everything.
#[derive(Debug, Default)]
pub struct Account {
    /// What is kept now.
    pub kept: Vec<Done>,
    /// What the rules refused: the number it was told by, and why.
    pub refused: Vec<(usize, String)>,
}

impl Account {
    /// A refusal is told at the end; anything else ends it.
    fn refuse(&mut self, line: usize, error: MemoryError) -> Result<(), MemoryError> {
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
pub struct Done {
    /// What it is.
    pub kind: &'static str,
    /// Its id.
    pub id: String,
    /// Its revision.
    pub revision: u64,
    /// What became of it beside what was known.
    pub outcome: Outcome,
}

async fn tell(
    memory: &dyn Memory,
    events: Vec<(usize, NewEvent)>,
    now: Time,
    account: &mut Account,
) -> Result<(), MemoryError> {
    let (lines, events): (Vec<usize>, Vec<NewEvent>) = events.into_iter().unzip();
    let done = |event: Event| {
        let known = event.recorded_at != now;
        let outcome = if known { Outcome::Supported(event.id.clone()) } else { Outcome::Kept };
        Done { kind: "event", id: event.id, revision: 1, outcome }
    };
    match memory.remember(events.clone()).await {
        Ok(kept) => account.kept.extend(kept.into_iter().map(done)),
        // One of them was refused, and none was kept: each by itself, then.
        Err(MemoryError::Refused(_)) => {
            for (line, event) in lines.into_iter().zip(events) {
                match memory.remember(vec![event]).await {
                    Ok(kept) => account.kept.extend(kept.into_iter().map(done)),
                    Err(error) => account.refuse(line, error)?,
                }
            }
        }
        Err(other) => return Err(other),
    }
    Ok(())
}

async fn keep(memory: &dyn Memory, thing: Thing, now: Time) -> Result<Done, MemoryError> {
    match thing {
        Thing::Claim { scope, claim, origin, assurance } => {
            let kind = match &claim {
                Claim::Fact(_) => "fact",
                Claim::Episode(_) => "episode",
                Claim::Procedure(_) => "procedure",
                Claim::Insight(_) => "insight",
            };
            let Kept { id, revision, outcome } =
                memory.keep(&scope, claim, origin, assurance, now).await?;
            Ok(Done { kind, id, revision: revision.into(), outcome })
        }
        Thing::Working { scope, state, seen } => {
            let expected = match seen {
                Some(seen) => seen,
                None => latest(memory, &scope).await?,
            };
            let working = working(state, expected, now)?;
            let revision = memory.write_working(&scope, expected, working).await?;
            let id = scope.run().to_owned();
            Ok(Done { kind: "working state of run", id, revision, outcome: Outcome::Kept })
        }
        Thing::Summary { scope, text, quotes, by } => {
            if by.is_some() && is_a_persons(memory, &scope, now).await? {
                let part = "summary".to_owned();
                let expected = "left as it is where a person wrote it".to_owned();
                return Err(MemoryError::Refused(Refusal::Malformed { part, expected }));
            }
            let summary = Summary {
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
            Ok(Done { kind: "summary of session", id, revision, outcome: Outcome::Kept })
        }
        Thing::Event(_) => unreachable!("events are told in batches"),
    }
}

/// The latest version of a run's working state; 0 before the first.
async fn latest(memory: &dyn Memory, scope: &Scope) -> Result<u64, MemoryError> {
    Ok(memory.working(scope).await?.map_or(0, |working| working.state.state_version))
}

/// Whether a person wrote the summary of a session.
async fn is_a_persons(memory: &dyn Memory, scope: &Scope, now: Time) -> Result<bool, MemoryError> {
    let previous = memory.material(scope, now).await?.previous;
    Ok(previous.is_some_and(|summary| summary.by.is_none()))
}

/// A working state of a file: as the packet has it, with `open_loops` beside the rest.
fn working(mut state: Object, version: u64, now: Time) -> Result<Working, MemoryError> {
    let malformed = |part: &str, error: &serde_json::Error| {
        let expected = format!("as in a packet: {error}");
        MemoryError::Refused(Refusal::Malformed { part: part.to_owned(), expected })
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
    Ok(Working { state, open_loops, recorded_at: now })
}
