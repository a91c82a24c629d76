//! Replay: a log is folded, its chain checked, and every decision made again and compared, byte for byte.

use thiserror::Error;

use super::event::RunEvent;
use super::log_chain::{GENESIS_HASH, RunLogEntry, seal_entry};
use super::{CorruptLogError, InputRejection, RunState, apply, decide};
use crate::protocol::Protocol;

/// A log that proves itself.
#[derive(Debug)]
pub struct LogVerification {
    /// How many events it has.
    pub events: u64,
    /// How many inputs were decided again.
    pub versions: u64,
    /// The last hash.
    pub hash: String,
    /// What the run is.
    pub state: RunState,
}

/// Where a log stops proving itself.
#[derive(Debug, Error)]
pub enum VerificationError {
    /// It cannot be folded.
    #[error(transparent)]
    Corrupt(#[from] CorruptLogError),
    /// An input that is refused now was taken then.
    #[error("version {version}: its input would be rejected now: {source}")]
    Rejected {
        /// The version.
        version: u64,
        /// Why.
        source: InputRejection,
    },
    /// A decision comes out otherwise.
    #[error(
        "version {version}, event {seq}: deciding again gives\n  {decided}\nand the log has\n  {recorded}"
    )]
    Differs {
        /// The version.
        version: u64,
        /// The event.
        seq: u64,
        /// What is decided now.
        decided: String,
        /// What is kept.
        recorded: String,
    },
    /// The events are kept, and yet their fold is another run than the one that was decided.
    #[error("version {version}: the fold of its events is not what was decided")]
    FoldMismatch {
        /// The version.
        version: u64,
    },
    /// The log does not begin with what came in.
    #[error("event {seq}: a version begins with what came in, and this is `{kind}`")]
    MissingInput {
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
pub fn verify(
    protocol: &Protocol,
    run: &str,
    log: &[RunLogEntry],
) -> Result<LogVerification, VerificationError> {
    let mut state = RunState::new(run);
    let mut hash = GENESIS_HASH.to_owned();
    for (index, kept) in log.iter().enumerate() {
        let (version, seq) = (state.version + 1, state.seq + 1);
        if kept.first_seq != seq {
            return Err(CorruptLogError::OutOfOrder { expected: seq, found: kept.first_seq }.into());
        }
        let events = kept.decode_events(run)?;
        let input = match events.first() {
            Some(RunEvent::Received { input }) => input,
            Some(other) => return Err(VerificationError::MissingInput { seq, kind: other.kind() }),
            None => return Err(VerificationError::MissingInput { seq, kind: "nothing" }),
        };
        let step = decide(protocol, &state, input)
            .map_err(|source| VerificationError::Rejected { version, source })?;
        let again = seal_entry(&state, &step.state, &step.events, &hash);
        if kept.body != again.body {
            return Err(describe_difference(&again, &step.events, kept, &events));
        }
        if kept.hash != again.hash {
            let (expected, found) = (again.hash, kept.hash.clone());
            return Err(CorruptLogError::HashMismatch { version, expected, found }.into());
        }
        for event in &events {
            apply(&mut state, event)?;
        }
        // Every decision is made from the fold, so a difference would show by the last version.
        if index + 1 == log.len() && state != step.state {
            return Err(VerificationError::FoldMismatch { version });
        }
        hash = again.hash;
    }
    Ok(LogVerification { events: state.seq, versions: state.version, hash, state })
}

/// The first event that would be kept otherwise now; where only the text differs, all of it.
fn describe_difference(
    again: &RunLogEntry,
    decided: &[RunEvent],
    kept: &RunLogEntry,
    events: &[RunEvent],
) -> VerificationError {
    let version = again.version;
    let text = |event: Option<&RunEvent>| {
        let text = |event| serde_json::to_string(event).expect("events are JSON");
        event.map_or_else(|| "nothing".to_owned(), text)
    };
    let longest = decided.len().max(events.len());
    let first = (0..longest).find(|index| decided.get(*index) != events.get(*index));
    match first {
        Some(index) => {
            let (again_text, kept) = (text(decided.get(index)), text(events.get(index)));
            VerificationError::Differs {
                version,
                seq: again.first_seq + index as u64,
                decided: again_text,
                recorded: kept,
            }
        }
        None => {
            let (again_text, kept) = (again.body.clone(), kept.body.clone());
            VerificationError::Differs {
                version,
                seq: again.first_seq,
                decided: again_text,
                recorded: kept,
            }
        }
    }
}
