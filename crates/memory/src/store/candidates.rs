//! Claims that wait for a ruling.

use countersign_core::run::Time;

use super::error::MemoryError;
use super::new_event::check_id;
use super::shelves::{Answer, Shelves};
use super::write::{differs, keep, refuse_forgotten};
use super::{Kept, revised::Revised as _};
use crate::Scope;
use crate::record::{Candidate, CandidateState};
use crate::rules::{Assurance, Refusal};

/// Writes a candidate down. The same one twice is one.
pub(super) fn propose(
    shelves: &mut impl Shelves,
    scope: &Scope,
    candidate: &Candidate,
) -> Answer<()> {
    scope.check()?;
    let subject = scope.subject();
    check_id(&candidate.id)?;
    refuse_forgotten(shelves, &subject, Candidate::KIND, &candidate.id)?;
    if let Some(first) = shelves.row::<Candidate>(&subject, &candidate.id, Some(1))? {
        let same = first.claim == candidate.claim && first.origin == candidate.origin;
        return if same { Ok(()) } else { Err(differs("candidate", &candidate.id)) };
    }
    let mut new = candidate.clone().at_revision(1, candidate.recorded_at);
    new.state = CandidateState::Proposed;
    shelves.put_row(&subject, &candidate.id, &new)
}

/// Rules on a candidate: it is kept, or it is refused and says why. Either is written down.
pub(super) fn promote(
    shelves: &mut impl Shelves,
    scope: &Scope,
    id: &str,
    assurance: Assurance,
    now: Time,
) -> Answer<Result<Kept, Refusal>> {
    let candidate = open(shelves, scope, id)?;
    let ruled = match keep(shelves, scope, &candidate.claim, candidate.origin, assurance, now) {
        Ok(kept) => Ok(kept),
        Err(MemoryError::Refused(refusal)) => Err(refusal),
        Err(other) => return Err(other),
    };
    let state = match &ruled {
        Ok(kept) => CandidateState::Promoted { id: kept.id.clone() },
        Err(refusal) => CandidateState::Refused { reason: refusal.to_string() },
    };
    close(shelves, scope, candidate, state, now)?;
    Ok(ruled)
}

/// Refuses a candidate by hand.
pub(super) fn refuse(
    shelves: &mut impl Shelves,
    scope: &Scope,
    id: &str,
    reason: &str,
    now: Time,
) -> Answer<()> {
    let candidate = open(shelves, scope, id)?;
    close(shelves, scope, candidate, CandidateState::Refused { reason: reason.to_owned() }, now)
}

fn open(shelves: &impl Shelves, scope: &Scope, id: &str) -> Answer<Candidate> {
    scope.check()?;
    let Some(candidate) = shelves.row::<Candidate>(&scope.subject(), id, None)? else {
        return Err(MemoryError::NotFound { kind: "candidate", id: id.to_owned() });
    };
    let found = match candidate.state {
        CandidateState::Proposed => return Ok(candidate),
        CandidateState::Promoted { .. } => "promoted",
        CandidateState::Refused { .. } => "refused",
    };
    Err(MemoryError::RuledOn { id: id.to_owned(), found })
}

fn close(
    shelves: &mut impl Shelves,
    scope: &Scope,
    candidate: Candidate,
    state: CandidateState,
    now: Time,
) -> Answer<()> {
    let next = candidate.revision() + 1;
    let ruled = Candidate { state, ..candidate }.at_revision(next, now);
    shelves.put_row(&scope.subject(), &ruled.id.clone(), &ruled)
}
