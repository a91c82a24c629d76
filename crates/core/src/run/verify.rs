//! Replay: a log is folded, its chain checked, and every decision made again and compared, byte for byte.

use thiserror::Error;

use super::chain::{GENESIS, Sealed, fold, open, seal};
use super::event::Event;
use super::{CorruptLog, Rejection, State, decide};
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
    /// What stands beside an event is not what the event says of itself.
    #[error(
        "version {version}, event {seq}: number, version, time or kind beside it are not its own"
    )]
    Row {
        /// The version.
        version: u64,
        /// The event.
        seq: u64,
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
pub fn verify(protocol: &Protocol, run: &str, log: &[Sealed]) -> Result<Verification, Fault> {
    let mut state = State::blank(run);
    let mut hash = GENESIS.to_owned();
    let mut rest = log;
    while let Some(first) = rest.first() {
        let event = open(run, state.seq + 1, &first.body)?;
        let Event::Received { input } = &event else {
            return Err(Fault::NoInput { seq: first.seq, kind: event.kind() });
        };
        let version = state.version + 1;
        let step = decide(protocol, &state, input)
            .map_err(|source| Fault::Rejected { version, source })?;
        let again = seal(&state, &step.state, &step.events, &hash);
        for (index, again) in again.iter().enumerate() {
            compare(again, rest.get(index))?;
        }
        let (kept, after) = rest.split_at(again.len());
        for one in kept {
            fold(&mut state, &one.body)?;
        }
        // Every decision is made from the fold, so a difference would show by the last version.
        if after.is_empty() && state != step.state {
            return Err(Fault::Folds { version });
        }
        if let Some(last) = kept.last() {
            hash.clone_from(&last.hash);
        }
        rest = after;
    }
    Ok(Verification { events: state.seq, versions: state.version, hash, state })
}

/// Whether an event is kept as it would be kept now.
fn compare(again: &Sealed, kept: Option<&Sealed>) -> Result<(), Fault> {
    let (version, seq) = (again.version, again.seq);
    let differs = |kept: String| {
        let again = again.body.clone();
        Fault::Differs { version, seq, again, kept }
    };
    let Some(kept) = kept else { return Err(differs("nothing".to_owned())) };
    if kept.body != again.body {
        return Err(differs(kept.body.clone()));
    }
    if kept.hash != again.hash {
        let (expected, found) = (again.hash.clone(), kept.hash.clone());
        return Err(CorruptLog::Chain { seq, expected, found }.into());
    }
    if (kept.seq, kept.version, kept.time, &kept.kind) != (seq, version, again.time, &again.kind) {
        return Err(Fault::Row { version, seq });
    }
    Ok(())
}
