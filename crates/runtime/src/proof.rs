//! Proof that what a store keeps of a run is what was decided: the chain, the rows around it, every
//! decision made again, and the places that lists and workers read. Changes nothing.

use countersign_core::json::sha256;
use countersign_core::run::{
    CorruptLog, Entry, Event, Exchange, Fault, GENESIS, Incoming, State, Verification, link, verify,
};
use countersign_store::{Head, RunId, Seal, WaitFilter};
use thiserror::Error;

use crate::engine::{Engine, EngineError};
use crate::prune::seal;

/// Where what is kept of a run stops agreeing with itself.
#[derive(Debug, Error)]
pub enum Flaw {
    /// The log does not prove itself.
    #[error(transparent)]
    Log(#[from] Fault),
    /// What lists show of the run is not what its log says.
    #[error("the store lists the run with {what} `{found}`, and its log says `{expected}`")]
    Head {
        /// Which column.
        what: &'static str,
        /// What the row has.
        found: String,
        /// What the log says.
        expected: String,
    },
    /// The protocol is not the one the run was pinned to.
    #[error("the files of protocol {expected} have the digest {found}")]
    Protocol {
        /// The digest the run is pinned to.
        expected: String,
        /// The digest of what is kept.
        found: String,
    },
    /// What a pruned log has left is not what was sealed.
    #[error(
        "the hashes of its log have the seal {found}, and {expected} was written down when it was pruned"
    )]
    Seal {
        /// The seal of then.
        expected: String,
        /// The seal of what is there.
        found: String,
    },
    /// A snapshot is not what the events before it fold to.
    #[error("the newest snapshot does not hold what the events up to it fold to")]
    Snapshot,
    /// Bytes that the log speaks of are gone, or others.
    #[error("version {version}: the bytes {digest} it speaks of are {found}")]
    Blob {
        /// The version.
        version: u64,
        /// Their digest.
        digest: String,
        /// What is there instead.
        found: &'static str,
    },
}

/// Proves all that is kept of a run. The first place that does not agree is told.
pub async fn prove(engine: &Engine, run: &str) -> Result<Result<Verification, Flaw>, EngineError> {
    let id = engine.run_id(run);
    let missing = || EngineError::NoRun { run: run.to_owned(), version: None };
    let head = engine.store().head(&id).await?.ok_or_else(missing)?;
    let log = engine.log(run).await?;
    // The chain first: it names the very version that was touched, not the first one that differs by it.
    if let Err(flaw) = chain(run, &log) {
        return Ok(Err(flaw));
    }
    let protocol = engine.protocol(&id, &head.protocol).await?;
    if protocol.digest != head.protocol {
        let (expected, found) = (head.protocol, protocol.digest.clone());
        return Ok(Err(Flaw::Protocol { expected, found }));
    }
    let verification = match verify(&protocol, run, &log) {
        Ok(verification) => verification,
        Err(fault) => return Ok(Err(fault.into())),
    };
    if let Err(flaw) = standing(&head, &verification) {
        return Ok(Err(flaw));
    }
    if let Some(flaw) = indexes(engine, &id, &verification.state).await? {
        return Ok(Err(flaw));
    }
    match engine.at(run, None).await {
        Ok(live) if *live.state == verification.state => {}
        Ok(_) | Err(EngineError::Corrupt { .. }) => return Ok(Err(Flaw::Snapshot)),
        Err(other) => return Err(other),
    }
    for one in &log {
        for digest in spoken_of(run, one) {
            let bytes = engine.store().blob(&id.tenant, &digest).await?;
            let found = match bytes {
                None => "gone",
                Some(bytes) if digest_of(&bytes) != digest => "others",
                Some(_) => continue,
            };
            return Ok(Err(Flaw::Blob { version: one.version, digest, found }));
        }
    }
    Ok(Ok(verification))
}

/// A chain that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chained {
    /// How many events it has.
    pub events: u64,
    /// Whether the bodies were taken out: then the hashes are those that were proved and sealed at that time.
    pub pruned: bool,
}

/// Proves the chain of a run's log, and that the row of the run stands at its end. Nothing is decided again.
///
/// Where the run was pruned, what is left of every version is held against the seal.
pub async fn chained(engine: &Engine, run: &str) -> Result<Result<Chained, Flaw>, EngineError> {
    let id = engine.run_id(run);
    let missing = || EngineError::NoRun { run: run.to_owned(), version: None };
    let head = engine.store().head(&id).await?.ok_or_else(missing)?;
    let mut log = engine.hashes(run).await?;
    // What came after the head was read is the next one's business.
    log.truncate(usize::try_from(head.version).unwrap_or(usize::MAX));
    let proved = match &head.pruned {
        Some(sealed) => unbroken(run, &log, sealed),
        None => chain(run, &log),
    };
    if let Err(flaw) = proved {
        return Ok(Err(flaw));
    }
    let last = log.last();
    let end =
        |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |found| found.to_string());
    let columns = [
        ("version", head.version.to_string(), end(last.map(|one| one.version))),
        ("last event", head.seq.to_string(), end(last.map(|one| one.last))),
        ("hash", head.hash, last.map_or_else(String::new, |one| one.hash.clone())),
    ];
    Ok(match columns.into_iter().find(|(_, found, expected)| found != expected) {
        Some((what, found, expected)) => Err(Flaw::Head { what, found, expected }),
        None => Ok(Chained { events: head.seq, pruned: head.pruned.is_some() }),
    })
}

/// Follows what a pruned log has left: no version is missing, and none is other than when it was sealed.
fn unbroken(run: &str, log: &[Entry], sealed: &Seal) -> Result<(), Flaw> {
    let mut expected = 1;
    for one in log {
        if one.first != expected {
            let found = one.first;
            return Err(Fault::from(CorruptLog::Order { expected, found }).into());
        }
        expected = one.last + 1;
    }
    let found = seal(run, log);
    if found == sealed.digest {
        return Ok(());
    }
    Err(Flaw::Seal { expected: sealed.digest.clone(), found })
}

/// Follows the hashes from the first version on, and holds every row against its entry.
pub(crate) fn chain(run: &str, log: &[Entry]) -> Result<(), Flaw> {
    let mut hash = GENESIS.to_owned();
    let mut expected = 1;
    for one in log {
        if one.first != expected {
            let found = one.first;
            return Err(Fault::from(CorruptLog::Order { expected, found }).into());
        }
        let follows = link(&hash, &one.body);
        if one.hash != follows {
            let (version, found) = (one.version, one.hash.clone());
            return Err(Fault::from(CorruptLog::Chain { version, expected: follows, found }).into());
        }
        one.open(run).map_err(Fault::from)?;
        (hash, expected) = (follows, one.last + 1);
    }
    Ok(())
}

/// The digests of the bytes that a version speaks of.
pub(crate) fn spoken_of(run: &str, one: &Entry) -> Vec<String> {
    let events = one.open(run).unwrap_or_default();
    let Some(Event::Received { input }) = events.into_iter().next() else { return Vec::new() };
    let exchange = match input.what {
        Incoming::ModelReplied(reply) => reply.exchange,
        Incoming::ModelFailed { exchange, .. } => exchange,
        _ => None,
    };
    exchange.map_or_else(Vec::new, |Exchange { request, response }| vec![request, response])
}

/// What bytes are found by.
pub(crate) fn digest_of(bytes: &[u8]) -> String {
    sha256(&[bytes])
}

fn standing(head: &Head, proved: &Verification) -> Result<(), Flaw> {
    let state = &proved.state;
    let columns = [
        ("last event", head.seq.to_string(), proved.events.to_string()),
        ("version", head.version.to_string(), proved.versions.to_string()),
        ("hash", head.hash.clone(), proved.hash.clone()),
        ("protocol", head.protocol.clone(), state.protocol.clone()),
        ("workflow", head.workflow.clone(), state.workflow.clone()),
        ("phase", head.phase.clone(), state.phase.clone()),
        ("status", head.status.clone(), state.status().as_str().to_owned()),
    ];
    match columns.into_iter().find(|(_, found, expected)| found != expected) {
        Some((what, found, expected)) => Err(Flaw::Head { what, found, expected }),
        None => Ok(()),
    }
}

async fn indexes(engine: &Engine, run: &RunId, state: &State) -> Result<Option<Flaw>, EngineError> {
    let mut filter = WaitFilter::all(run.tenant.clone(), usize::MAX);
    filter.run = Some(run.id.clone());
    let waits = engine.store().waits(&filter).await?;
    let actions = engine.store().actions(run).await?;
    let listed = |mut ids: Vec<String>| {
        ids.sort();
        if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
    };
    let pairs = [
        (
            "open waits",
            listed(waits.into_iter().map(|wait| wait.id).collect()),
            listed(state.waits.keys().cloned().collect()),
        ),
        (
            "open orders",
            listed(actions.into_iter().map(|action| action.id).collect()),
            listed(state.pending.keys().cloned().collect()),
        ),
    ];
    let differs = pairs.into_iter().find(|(_, found, expected)| found != expected);
    Ok(differs.map(|(what, found, expected)| Flaw::Head { what, found, expected }))
}
