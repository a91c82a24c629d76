//! Replay: a log is folded, its chain checked, and every decision made again and compared, byte for byte.

use thiserror::Error;

use super::chain::{Entry, GENESIS, seal};
use super::event::Event;
use super::{CorruptLog, Rejection, State, apply, decide};
use crate::protocol::Protocol;

/// A log that proves itself.
#[derive(Debug)]
pub struct Verification {
    /// How many events it has.
    pub events: u64,
    /// How many inputs were decided again.
    pub versions: u64,
    /// The last hash.
    pub hash: String,
    /// What the run is.
    pub state: State,
}

/// Where a log stops proving itself.
#[derive(Debug, Error)]
pub enum Fault {
    /// It cannot be folded.
    #[error(transparent)]
    Corrupt(#[from] CorruptLog),
    /// An input that is refused now was taken then.
    #[error("version {version}: its input would be rejected now: {source}")]
    Rejected {
        /// The version.
        version: u64,
        /// Why.
        source: Rejection,
    },
    /// A decision comes out otherwise.
    #[error(
        "version {version}, event {seq}: deciding again gives\n  {again}\nand the log has\n  {kept}"
    )]
    Differs {
        /// The version.
        version: u64,
        /// The event.
        seq: u64,
        /// What is decided now.
        again: String,
        /// What is kept.
        kept: String,
    },
    /// The events are kept, and yet their fold is another run than the one that was decided.
    #[error("version {version}: the fold of its events is not what was decided")]
    Folds {
        /// The version.
        version: u64,
    },
    /// The log does not begin with what came in.
    #[error("event {seq}: a version begins with what came in, and this is `{kind}`")]
    NoInput {
        /// The event.
        seq: u64,
        /// What it is.
        kind: &'static str,
    },
}

/// Proves a log: the chain holds, every decision comes out the same, and the state is the fold.
///
/// Whole versions missing at the end leave a log that proves itself: compare the hash with one that
/// was kept elsewhere.
pub fn verify(protocol: &Protocol, run: &str, log: &[Entry]) -> Result<Verification, Fault> {
    let mut state = State::blank(run);
    let mut hash = GENESIS.to_owned();
    for (index, kept) in log.iter().enumerate() {
        let (version, seq) = (state.version + 1, state.seq + 1);
        if kept.first != seq {
            return Err(CorruptLog::Order { expected: seq, found: kept.first }.into());
        }
        let events = kept.open(run)?;
        let input = match events.first() {
            Some(Event::Received { input }) => input,
            Some(other) => return Err(Fault::NoInput { seq, kind: other.kind() }),
            None => return Err(Fault::NoInput { seq, kind: "nothing" }),
        };
        let step = decide(protocol, &state, input)
            .map_err(|source| Fault::Rejected { version, source })?;
        let again = seal(&state, &step.state, &step.events, &hash);
        if kept.body != again.body {
            return Err(differs(&again, &step.events, kept, &events));
        }
        if kept.hash != again.hash {
            let (expected, found) = (again.hash, kept.hash.clone());
            return Err(CorruptLog::Chain { version, expected, found }.into());
        }
        for event in &events {
            apply(&mut state, event)?;
        }
        // Every decision is made from the fold, so a difference would show by the last version.
        if index + 1 == log.len() && state != step.state {
            return Err(Fault::Folds { version });
        }
        hash = again.hash;
    }
    Ok(Verification { events: state.seq, versions: state.version, hash, state })
}

/// The first event that would be kept otherwise now; where only the text differs, all of it.
fn differs(again: &Entry, decided: &[Event], kept: &Entry, events: &[Event]) -> Fault {
    let version = again.version;
    let text = |event: Option<&Event>| {
        let text = |event| serde_json::to_string(event).expect("events are JSON");
        event.map_or_else(|| "nothing".to_owned(), text)
    };
    let longest = decided.len().max(events.len());
    let first = (0..longest).find(|index| decided.get(*index) != events.get(*index));
    match first {
        Some(index) => {
            let (again_text, kept) = (text(decided.get(index)), text(events.get(index)));
            Fault::Differs { version, seq: again.first + index as u64, again: again_text, kept }
        }
        None => {
            let (again_text, kept) = (again.body.clone(), kept.body.clone());
            Fault::Differs { version, seq: again.first, again: again_text, kept }
        }
    }
}
