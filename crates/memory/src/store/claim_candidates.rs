//! Stores claim candidates and the decisions on them.

use countersign_contract::Timestamp;

use super::memory_error::MemoryError;
use super::new_event::check_id;
use super::row_store::{MemoryResult, RowStore};
use super::write::{differs_error, record_claim, refuse_forgotten};
use super::{ClaimReceipt, revisioned_row::RevisionedRow as _};
use crate::MemoryScope;
use crate::record::{CandidateState, ClaimCandidate};
use crate::rules::{ClaimAssurance, MemoryRefusal};

/// Stores a candidate. Proposing the same candidate again has no effect.
pub(super) fn propose_candidate(
    row_store: &mut impl RowStore,
    scope: &MemoryScope,
    candidate: &ClaimCandidate,
) -> MemoryResult<()> {
    scope.check()?;
    let subject = scope.subject();
    check_id(&candidate.id)?;
    refuse_forgotten(row_store, &subject, ClaimCandidate::KIND, &candidate.id)?;
    if let Some(first) = row_store.load_row::<ClaimCandidate>(&subject, &candidate.id, Some(1))? {
        let same = first.claim == candidate.claim && first.origin == candidate.origin;
        return if same { Ok(()) } else { Err(differs_error("candidate", &candidate.id)) };
    }
    let mut new = candidate.clone().with_revision(1, candidate.recorded_at);
    new.state = CandidateState::Proposed;
    row_store.put_row(&subject, &candidate.id, &new)
}

/// Decides on a candidate by the rules and records the decision, a promotion or a refusal.
pub(super) fn promote_candidate(
    row_store: &mut impl RowStore,
    scope: &MemoryScope,
    id: &str,
    assurance: ClaimAssurance,
    now: Timestamp,
) -> MemoryResult<Result<ClaimReceipt, MemoryRefusal>> {
    let candidate = load_pending(row_store, scope, id)?;
    let ruled =
        match record_claim(row_store, scope, &candidate.claim, candidate.origin, assurance, now) {
            Ok(kept) => Ok(kept),
            Err(MemoryError::Refused(refusal)) => Err(refusal),
            Err(other) => return Err(other),
        };
    let state = match &ruled {
        Ok(kept) => CandidateState::Promoted { id: kept.id.clone() },
        Err(refusal) => CandidateState::Refused { reason: refusal.to_string() },
    };
    record_decision(row_store, scope, candidate, state, now)?;
    Ok(ruled)
}

/// Refuses a candidate by hand.
pub(super) fn refuse_candidate(
    row_store: &mut impl RowStore,
    scope: &MemoryScope,
    id: &str,
    reason: &str,
    now: Timestamp,
) -> MemoryResult<()> {
    let candidate = load_pending(row_store, scope, id)?;
    record_decision(
        row_store,
        scope,
        candidate,
        CandidateState::Refused { reason: reason.to_owned() },
        now,
    )
}

fn load_pending(
    row_store: &impl RowStore,
    scope: &MemoryScope,
    id: &str,
) -> MemoryResult<ClaimCandidate> {
    scope.check()?;
    let Some(candidate) = row_store.load_row::<ClaimCandidate>(&scope.subject(), id, None)? else {
        return Err(MemoryError::NotFound { kind: "candidate", id: id.to_owned() });
    };
    let found = match candidate.state {
        CandidateState::Proposed => return Ok(candidate),
        CandidateState::Promoted { .. } => "promoted",
        CandidateState::Refused { .. } => "refused",
    };
    Err(MemoryError::AlreadyDecided { id: id.to_owned(), found })
}

fn record_decision(
    row_store: &mut impl RowStore,
    scope: &MemoryScope,
    candidate: ClaimCandidate,
    state: CandidateState,
    now: Timestamp,
) -> MemoryResult<()> {
    let next = candidate.revision() + 1;
    let ruled = ClaimCandidate { state, ..candidate }.with_revision(next, now);
    row_store.put_row(&scope.subject(), &ruled.id.clone(), &ruled)
}
