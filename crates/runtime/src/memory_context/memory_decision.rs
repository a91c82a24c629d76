//! Decisions on candidates and insights: a person or a program that speaks for people promotes or
//! refuses a candidate, validates or rejects an insight, and learns from a validated one.

use countersign_memory::record::{ClaimCandidate, MemoryClaim, MemoryInsight, MemoryOrigin};
use countersign_memory::rules::ClaimAssurance;
use countersign_memory::store::{ClaimReceipt, Memory, MemoryError};
use countersign_memory::{MemoryScope, MemorySubject};
use countersign_run::Timestamp;
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use thiserror::Error;

use super::IngestedItem;

/// Why a decision on a candidate or an insight was not recorded.
#[derive(Debug, Error)]
pub enum MemoryDecisionError {
    /// The memory returned an error, or its rules refuse the decision.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Several rows begin with the given name.
    #[error("`{name}` matches {} {kind}s: {}", ids.len(), ids.join(", "))]
    Ambiguous {
        /// The kind of the rows, such as `insight`.
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// The ids that begin with the name.
        ids: Vec<String>,
    },
}

/// Finds the insight with an id, or the only one whose id begins with a name, in any run.
///
/// # Errors
/// If there is none, or several.
pub async fn find_insight(
    memory: &dyn Memory,
    subject: &MemorySubject,
    name: &str,
) -> Result<MemoryInsight, MemoryDecisionError> {
    let all = memory.list_insights(subject, usize::MAX).await?;
    select_by_name("insight", name, all, |insight| &insight.id)
}

/// Finds the candidate with an id, or the only one whose id begins with a name.
///
/// # Errors
/// If there is none, or several.
pub async fn find_candidate(
    memory: &dyn Memory,
    subject: &MemorySubject,
    name: &str,
) -> Result<ClaimCandidate, MemoryDecisionError> {
    let all = memory.list_candidates(subject, usize::MAX).await?;
    select_by_name("candidate", name, all, |candidate| &candidate.id)
}

/// Records that an insight was tested and holds, or that it does not hold.
///
/// # Errors
/// If there is no such insight, or the rules refuse the change.
pub async fn decide_insight(
    memory: &dyn Memory,
    scope: &MemoryScope,
    name: &str,
    validation: InsightValidationState,
    now: Timestamp,
) -> Result<(String, IngestedItem), MemoryDecisionError> {
    let insight = find_insight(memory, &scope.subject(), name).await?;
    let (id, scope) = (insight.id.clone(), with_run(scope, &insight.run)?);
    let claim = MemoryClaim::Insight(Box::new(MemoryInsight { validation, ..insight }));
    let kept = memory
        .record_claim(&scope, claim, MemoryOrigin::User, ClaimAssurance::Confirmed, now)
        .await?;
    Ok((id, to_item("insight", kept)))
}

/// Stores the fact or procedure that a validated insight became. Returns the id of the insight too.
///
/// # Errors
/// If there is no such insight, it is not validated, or the rules refuse the claim.
pub async fn learn_from_insight(
    memory: &dyn Memory,
    scope: &MemoryScope,
    name: &str,
    claim: MemoryClaim,
    origin: MemoryOrigin,
    now: Timestamp,
) -> Result<(String, IngestedItem), MemoryDecisionError> {
    let id = find_insight(memory, &scope.subject(), name).await?.id;
    let kind = describe_claim_kind(&claim);
    let kept = memory.learn_from_insight(scope, &id, claim, origin, now).await?;
    Ok((id, to_item(kind, kept)))
}

/// Promotes a candidate by the rules. A refusal is recorded, and returned as an error.
///
/// # Errors
/// If there is no such candidate, it was decided already, or the rules refuse it.
pub async fn promote_candidate(
    memory: &dyn Memory,
    scope: &MemoryScope,
    name: &str,
    assurance: ClaimAssurance,
    now: Timestamp,
) -> Result<(String, IngestedItem), MemoryDecisionError> {
    let candidate = find_candidate(memory, &scope.subject(), name).await?;
    let scope = match &candidate.claim {
        MemoryClaim::Insight(insight) => with_run(scope, &insight.run)?,
        _ => scope.clone(),
    };
    let ruled = memory.promote_candidate(&scope, &candidate.id, assurance, now).await?;
    let kept = ruled.map_err(MemoryError::Refused)?;
    Ok((candidate.id, to_item(describe_claim_kind(&candidate.claim), kept)))
}

/// Refuses a candidate with a reason, and returns its id.
///
/// # Errors
/// If there is no such candidate, or it was decided already.
pub async fn refuse_candidate(
    memory: &dyn Memory,
    scope: &MemoryScope,
    name: &str,
    reason: &str,
    now: Timestamp,
) -> Result<String, MemoryDecisionError> {
    let id = find_candidate(memory, &scope.subject(), name).await?.id;
    memory.refuse_candidate(scope, &id, reason, now).await?;
    Ok(id)
}

/// Describes the kind of a claim in one word.
#[must_use]
pub fn describe_claim_kind(claim: &MemoryClaim) -> &'static str {
    match claim {
        MemoryClaim::Fact(_) => "fact",
        MemoryClaim::Episode(_) => "episode",
        MemoryClaim::Procedure(_) => "procedure",
        MemoryClaim::Insight(_) => "insight",
    }
}

/// Returns the scope with the run that an insight belongs to.
fn with_run(scope: &MemoryScope, run: &str) -> Result<MemoryScope, MemoryDecisionError> {
    let scope = MemoryScope::new(scope.tenant(), scope.user(), scope.agent(), scope.session(), run);
    scope.map_err(|error| MemoryError::from(error).into())
}

fn to_item(kind: &'static str, kept: ClaimReceipt) -> IngestedItem {
    let ClaimReceipt { id, revision, outcome } = kept;
    IngestedItem { kind, id, revision: revision.into(), outcome }
}

fn select_by_name<T>(
    kind: &'static str,
    name: &str,
    mut all: Vec<T>,
    id: impl Fn(&T) -> &String,
) -> Result<T, MemoryDecisionError> {
    if let Some(index) = all.iter().position(|one| id(one) == name) {
        return Ok(all.swap_remove(index));
    }
    all.retain(|one| !name.is_empty() && id(one).starts_with(name));
    match all.len() {
        1 => Ok(all.swap_remove(0)),
        0 => Err(MemoryError::NotFound { kind, id: name.to_owned() }.into()),
        _ => {
            let ids = all.iter().map(|one| id(one).clone()).collect();
            Err(MemoryDecisionError::Ambiguous { kind, name: name.to_owned(), ids })
        }
    }
}
