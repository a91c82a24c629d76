//! Verifies that what a store keeps of a run is what was decided: the hash chain, every decision
//! made again, and the rows beside the log (`row_check`). Verification is read-only.

use countersign_contract::json::sha256_hex;
use countersign_run::{
    CorruptLogError, ExchangeDigests, GENESIS_HASH, InputKind, LogVerification, RunEvent,
    RunLogEntry, RunState, VerificationError, fold_entry, hash_entry, verify,
};
use countersign_store::PruneSeal;
use thiserror::Error;

use crate::engine::{Engine, EngineError};
use crate::prune::compute_seal;
use crate::row_check::compare_rows;

/// How many times verification is attempted while the run keeps changing, before the last attempt.
const MAX_ATTEMPTS: usize = 3;

/// The first inconsistency found in what the store keeps of a run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IntegrityError {
    /// The log does not verify.
    #[error(transparent)]
    Log(#[from] VerificationError),
    /// A column of the run's head row differs from the log.
    #[error("the store lists the run with {what} `{found}`, but its log says `{expected}`")]
    HeadMismatch {
        /// Name of the column that differs.
        what: &'static str,
        /// The value in the row.
        found: String,
        /// The value that the log implies.
        expected: String,
    },
    /// The stored protocol is not the one that the run is pinned to.
    #[error("the files of protocol {expected} have the digest {found}")]
    ProtocolMismatch {
        /// The digest that the run is pinned to.
        expected: String,
        /// The digest of the stored files.
        found: String,
    },
    /// The remains of a pruned log differ from what was sealed.
    #[error(
        "the hashes of its log have the seal {found}, but {expected} was recorded when the run was pruned"
    )]
    SealMismatch {
        /// The seal recorded when the run was pruned.
        expected: String,
        /// The seal computed from the current rows.
        found: String,
    },
    /// A row beside the log differs from the log.
    #[error("the store has {what} `{found}`, but the log says `{expected}`")]
    RowMismatch {
        /// Description of the field that differs, such as `next wake-up`.
        what: String,
        /// The value in the row.
        found: String,
        /// The value that the log implies.
        expected: String,
    },
    /// The text of a reply differs from the bytes received from the provider.
    #[error(
        "version {version}: the text of the reply differs from the bytes received from the provider"
    )]
    ReplyMismatch {
        /// The version that accepted the reply.
        version: u64,
    },
    /// A snapshot differs from the fold of the events before it.
    #[error("a snapshot differs from the state that the events before it produce")]
    SnapshotMismatch,
    /// Bytes that the log refers to are missing or different.
    #[error("version {version}: the bytes {digest} that it refers to are {found}")]
    BlobMismatch {
        /// The version that refers to the bytes.
        version: u64,
        /// SHA-256 digest of the expected bytes.
        digest: String,
        /// What was found instead: `missing` or `different`.
        found: &'static str,
    },
}

/// Verifies everything that is stored for a run, and returns the first inconsistency.
pub async fn verify_stored_run(
    engine: &Engine,
    run: &str,
) -> Result<Result<LogVerification, IntegrityError>, EngineError> {
    retry_if_changed(engine, run, || verify_stored_run_once(engine, run)).await
}

async fn verify_stored_run_once(
    engine: &Engine,
    run: &str,
) -> Result<Result<LogVerification, IntegrityError>, EngineError> {
    let id = engine.run_id(run);
    let missing = || EngineError::RunNotFound { run: run.to_owned(), version: None };
    let head = engine.store().load_head(&id).await?.ok_or_else(missing)?;
    let log = engine.read_log(run).await?;
    // Check the chain first: it names the version that was changed, not the first one affected by
    // it.
    if let Err(flaw) = check_hash_chain(run, &log) {
        return Ok(Err(flaw));
    }
    let protocol = engine.load_protocol(&id, &head.protocol).await?;
    if protocol.digest != head.protocol {
        let (expected, found) = (head.protocol, protocol.digest.clone());
        return Ok(Err(IntegrityError::ProtocolMismatch { expected, found }));
    }
    let verification = match verify(&protocol, run, &log) {
        Ok(verification) => verification,
        Err(fault) => return Ok(Err(fault.into())),
    };
    let compared = compare_rows(engine, &id, &head, &log, &verification.state, &protocol).await?;
    Ok(compared.map_or(Ok(verification), Err))
}

/// Repeats a verification if the run changed meanwhile, because rows read before and after a change
/// do not fit together.
async fn retry_if_changed<T, F: Future<Output = Result<Result<T, IntegrityError>, EngineError>>>(
    engine: &Engine,
    run: &str,
    once: impl Fn() -> F,
) -> Result<Result<T, IntegrityError>, EngineError> {
    let id = engine.run_id(run);
    for _ in 0..MAX_ATTEMPTS {
        let before = engine.store().load_head(&id).await?.map(|head| (head.version, head.wake_at));
        let proved = once().await?;
        let after = engine.store().load_head(&id).await?.map(|head| (head.version, head.wake_at));
        if proved.is_ok() || before == after {
            return Ok(proved);
        }
    }
    once().await
}

/// The result of a successful chain verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainVerification {
    /// Number of events in the log.
    pub events: u64,
    /// Whether the bodies were pruned. If so, the hashes are those that were verified and sealed at
    /// that time.
    pub pruned: bool,
}

/// Verifies the hash chain of a run's log, and that all rows beside it match the log. Decisions are
/// not made again.
///
/// If the run was pruned, the rest of every version is compared with the seal.
pub async fn verify_stored_chain(
    engine: &Engine,
    run: &str,
) -> Result<Result<ChainVerification, IntegrityError>, EngineError> {
    retry_if_changed(engine, run, || verify_stored_chain_once(engine, run)).await
}

async fn verify_stored_chain_once(
    engine: &Engine,
    run: &str,
) -> Result<Result<ChainVerification, IntegrityError>, EngineError> {
    let id = engine.run_id(run);
    let missing = || EngineError::RunNotFound { run: run.to_owned(), version: None };
    let head = engine.store().load_head(&id).await?.ok_or_else(missing)?;
    let mut log = engine.read_log_hashes(run).await?;
    // Ignore versions committed after the head was read.
    log.truncate(usize::try_from(head.version).unwrap_or(usize::MAX));
    let proved = match &head.pruned {
        Some(sealed) => check_seal(run, &log, sealed),
        None => check_hash_chain(run, &log),
    };
    if let Err(flaw) = proved {
        return Ok(Err(flaw));
    }
    let last = log.last();
    let end =
        |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |found| found.to_string());
    let columns = [
        ("version", head.version.to_string(), end(last.map(|one| one.version))),
        ("last event", head.seq.to_string(), end(last.map(|one| one.last_seq))),
        ("hash", head.hash.clone(), last.map_or_else(String::new, |one| one.hash.clone())),
    ];
    if let Some((what, found, expected)) =
        columns.into_iter().find(|(_, found, expected)| found != expected)
    {
        return Ok(Err(IntegrityError::HeadMismatch { what, found, expected }));
    }
    let chained = ChainVerification { events: head.seq, pruned: head.pruned.is_some() };
    if chained.pruned {
        return Ok(Ok(chained));
    }
    let mut state = RunState::new(run);
    for one in &log {
        if let Err(corrupt) = fold_entry(&mut state, &one.body) {
            return Ok(Err(VerificationError::from(corrupt).into()));
        }
    }
    let protocol = engine.load_protocol(&id, &head.protocol).await?;
    let compared = compare_rows(engine, &id, &head, &log, &state, &protocol).await?;
    Ok(compared.map_or(Ok(chained), Err))
}

/// Checks the remains of a pruned log: no version is missing, and none has changed since it was
/// sealed.
fn check_seal(run: &str, log: &[RunLogEntry], sealed: &PruneSeal) -> Result<(), IntegrityError> {
    let mut expected = 1;
    for one in log {
        if one.first_seq != expected {
            let found = one.first_seq;
            return Err(
                VerificationError::from(CorruptLogError::OutOfOrder { expected, found }).into()
            );
        }
        expected = one.last_seq + 1;
    }
    let found = compute_seal(run, log);
    if found == sealed.digest {
        return Ok(());
    }
    Err(IntegrityError::SealMismatch { expected: sealed.digest.clone(), found })
}

/// Follows the hashes from the first version, and compares every row with its entry.
pub(crate) fn check_hash_chain(run: &str, log: &[RunLogEntry]) -> Result<(), IntegrityError> {
    let mut hash = GENESIS_HASH.to_owned();
    let mut expected = 1;
    for one in log {
        if one.first_seq != expected {
            let found = one.first_seq;
            return Err(
                VerificationError::from(CorruptLogError::OutOfOrder { expected, found }).into()
            );
        }
        let follows = hash_entry(&hash, &one.body);
        if one.hash != follows {
            let (version, found) = (one.version, one.hash.clone());
            return Err(VerificationError::from(CorruptLogError::HashMismatch {
                version,
                expected: follows,
                found,
            })
            .into());
        }
        one.decode_events(run).map_err(VerificationError::from)?;
        (hash, expected) = (follows, one.last_seq + 1);
    }
    Ok(())
}

/// Returns the digests of the bytes that a version refers to.
pub(crate) fn collect_blob_digests(run: &str, one: &RunLogEntry) -> Vec<String> {
    let events = one.decode_events(run).unwrap_or_default();
    let Some(RunEvent::InputReceived { input }) = events.into_iter().next() else {
        return Vec::new();
    };
    let exchange = match input.payload {
        InputKind::ModelReplied(reply) => reply.exchange,
        InputKind::ModelFailed { exchange, .. } => exchange,
        _ => None,
    };
    exchange.map_or_else(Vec::new, |ExchangeDigests { request, response }| vec![request, response])
}

/// Returns the digest that identifies a blob: SHA-256 in hexadecimal.
pub(crate) fn compute_blob_digest(bytes: &[u8]) -> String {
    sha256_hex(&[bytes])
}
