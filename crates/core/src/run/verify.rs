//! Replay: a log is folded, its chain checked, and every decision made again and compared, byte for byte.

use thiserror::Error;

use super::chain::{GENESIS, Sealed, link, open, seal};
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
            let missing = "nothing".to_owned();
            let kept = rest.get(index);
            if kept.is_none_or(|kept| kept.body != again.body) {
                let (seq, again) = (again.seq, again.body.clone());
                let kept = kept.map_or(missing, |kept| kept.body.clone());
                return Err(Fault::Differs { version, seq, again, kept });
            }
        }
        let (kept, after) = rest.split_at(again.len());
        for one in kept {
            let expected = link(&hash, &one.body);
            if one.hash != expected {
                let (seq, found) = (one.seq, one.hash.clone());
                return Err(CorruptLog::Chain { seq, expected, found }.into());
            }
            let event = open(run, state.seq + 1, &one.body)?;
            apply(&mut state, &event)?;
            hash = expected;
        }
        rest = after;
    }
    Ok(Verification { events: state.seq, versions: state.version, hash, state })
}
