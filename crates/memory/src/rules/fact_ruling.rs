//! What becomes of the facts under one key when another is claimed.

use countersign_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_core::run::Timestamp;

use super::merge_claim::merge_claim;
use super::validity_period::ValidityPeriod;
use super::{ClaimComparison, MemoryRefusal, compare_claim, trust_level};
use crate::MemorySubject;
use crate::record::{MemoryFact, MemoryOrigin};

/// A fact as it is kept: with its origin, and whose events its evidence is.
#[derive(Debug, Clone, PartialEq)]
pub struct FactRevision {
    /// The fact.
    pub fact: MemoryFact,
    /// The most trusted origin that claimed it; `InvalidUser` once a person has confirmed it.
    pub origin: MemoryOrigin,
    /// Who claimed it first.
    pub claimed_by: MemorySubject,
    /// Whose event each piece of evidence is, in its order: a fact of a tenant may rest on the words of
    /// several users, who must not see each other's.
    pub sources: Vec<MemorySubject>,
}

/// Who answers for a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimAssurance {
    /// Whoever made it.
    Claimed,
    /// A person who was asked and said yes.
    Confirmed,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// It is kept, and nothing spoke against it in the time that it has.
    Added,
    /// It was known: what it brings was added to this one.
    Supported(String),
    /// It took the place of these, for its time.
    Superseded(Vec<String>),
    /// It is kept as out of date: this one stands.
    Outdated(String),
    /// It contradicts these, and nobody knows who is right.
    Disputed(Vec<String>),
}

/// What became of a claim, and the revisions that are to be written for it.
#[derive(Debug, Clone, PartialEq)]
pub struct FactRuling {
    /// What became of it.
    pub outcome: ClaimOutcome,
    /// Revisions to write, all at once. None where nothing new was said.
    pub writes: Vec<FactRevision>,
    /// Facts to write beside them: the rest of a time that was cut in two. Each still has the id of the
    /// fact that it is a part of, and is to get one of its own.
    pub parts: Vec<FactRevision>,
}

/// Whether a fact could be kept by itself.
pub(crate) fn check_fact(
    claim: &FactRevision,
    assurance: ClaimAssurance,
) -> Result<(), MemoryRefusal> {
    let fact = &claim.fact;
    if fact.key.trim().is_empty() || fact.key.chars().any(char::is_control) {
        return Err(MemoryRefusal::malformed("key", "words without control characters"));
    }
    if !(0.0..=1.0).contains(&fact.confidence) {
        return Err(MemoryRefusal::malformed("confidence", "from 0 to 1"));
    }
    if let (Some(from), Some(to)) = (fact.valid_from, fact.valid_to)
        && to < from
    {
        return Err(MemoryRefusal::malformed("valid_to", "at or after `valid_from`"));
    }
    let trusted = trust_level(claim.origin) > trust_level(MemoryOrigin::Web);
    if fact.level != ScopeLevel::User && !trusted && assurance == ClaimAssurance::Claimed {
        return Err(MemoryRefusal::SharedUnconfirmed { origin: claim.origin });
    }
    Ok(())
}

/// Rules on a claim among the facts that stand under its key and level, active and disputed.
///
/// One is active at any moment: the same value adds to what stands; another value wins, loses or is
/// disputed (see `weigh`), for the time in which both hold. Whoever loses keeps the rest of its time.
/// What a person confirmed wins over everything, and stands as what a user said.
#[must_use]
pub fn resolve_fact_claim(
    claim: FactRevision,
    assurance: ClaimAssurance,
    standing: &[FactRevision],
    now: Timestamp,
) -> FactRuling {
    let mut claim = claim;
    if assurance == ClaimAssurance::Confirmed {
        claim.origin = MemoryOrigin::User;
        set_confirmed_start(&mut claim.fact, standing, now);
    }
    let time = ValidityPeriod::from_fact(&claim.fact);
    let at_once =
        standing.iter().filter(|other| time.overlaps(ValidityPeriod::from_fact(&other.fact)));
    let (same, rivals): (Vec<&FactRevision>, Vec<&FactRevision>) =
        at_once.partition(|other| other.fact.value == claim.fact.value);
    if !same.is_empty() {
        return merge_claim(&same, claim, assurance, &rivals, now);
    }
    claim.fact.revision = 1;
    claim.fact.recorded_at = now;
    claim.fact.superseded_by = None;
    claim.fact.status = FactStatus::Active;
    let (mut lost, mut even, mut won) = (Vec::new(), Vec::new(), Vec::new());
    for rival in rivals {
        let weight = match assurance {
            ClaimAssurance::Confirmed => ClaimComparison::Wins,
            ClaimAssurance::Claimed => compare_claim(&claim, rival),
        };
        match weight {
            ClaimComparison::Loses => lost.push(rival),
            ClaimComparison::Tie => even.push(rival),
            ClaimComparison::Wins => won.push(rival),
        }
    }
    let mut parts = Vec::new();
    if let Some(by) = lost.first() {
        let taken: Vec<ValidityPeriod> =
            lost.iter().map(|one| ValidityPeriod::from_fact(&one.fact)).collect();
        (claim, parts) = split_around(claim, &taken, &by.fact.id, now);
    }
    // Where it holds: what is left to it, as far as that is not over.
    let holding = std::iter::once(&claim).chain(&parts).filter(|one| is_in_force(one));
    let holding: Vec<ValidityPeriod> =
        holding.map(|one| ValidityPeriod::from_fact(&one.fact)).collect();
    let contends = |rival: &&FactRevision| {
        holding.iter().any(|span| span.overlaps(ValidityPeriod::from_fact(&rival.fact)))
    };
    even.retain(contends);
    won.retain(contends);
    let mut writes = Vec::new();
    if !even.is_empty() {
        for one in std::iter::once(&mut claim).chain(&mut parts).filter(|one| is_in_force(one)) {
            one.fact.status = FactStatus::Disputed;
        }
        let doubted = even.iter().filter(|rival| rival.fact.status != FactStatus::Disputed);
        writes.extend(doubted.map(|rival| {
            let mut rival = next_revision(rival, now);
            rival.fact.status = FactStatus::Disputed;
            rival
        }));
    }
    for rival in &won {
        let (old, rest) = split_around(next_revision(rival, now), &holding, &claim.fact.id, now);
        writes.push(old);
        parts.extend(rest);
    }
    let outcome = match lost.first() {
        Some(by) if !is_in_force(&claim) => ClaimOutcome::Outdated(by.fact.id.clone()),
        _ if !even.is_empty() => ClaimOutcome::Disputed(collect_ids(&even)),
        _ if !won.is_empty() => ClaimOutcome::Superseded(collect_ids(&won)),
        _ => ClaimOutcome::Added,
    };
    writes.push(claim);
    FactRuling { outcome, writes, parts }
}

/// What is confirmed holds now: where a fact of its value is over, or is yet to come, and no beginning is
/// named, it begins now.
fn set_confirmed_start(claim: &mut MemoryFact, standing: &[FactRevision], now: Timestamp) {
    let time = ValidityPeriod::from_fact(claim);
    let mut same = standing.iter().filter(|one| one.fact.value == claim.value).peekable();
    let known = same.peek().is_some();
    let holds = same.any(|one| ValidityPeriod::from_fact(&one.fact).contains(now));
    if claim.valid_from.is_none() && time.contains(now) && known && !holds {
        claim.valid_from = Some(now);
    }
}

/// A fact in the time that others leave it, and the rest of that time as facts of their own. Itself it
/// has the first part that is not over; a part that is over, or a fact without any, is deprecated.
pub(super) fn split_around(
    fact: FactRevision,
    taken: &[ValidityPeriod],
    by: &str,
    now: Timestamp,
) -> (FactRevision, Vec<FactRevision>) {
    let whole = ValidityPeriod::from_fact(&fact.fact);
    let mut left = whole.subtract_all(taken);
    let within = |span: ValidityPeriod| {
        let mut part = fact.clone();
        (part.fact.valid_from, part.fact.valid_to) = (span.from, span.to);
        if span.to != whole.to {
            part.fact.superseded_by = Some(by.to_owned());
        }
        if span.has_ended(now) {
            part.fact.status = FactStatus::Deprecated;
            part.fact.superseded_by.get_or_insert_with(|| by.to_owned());
        }
        part
    };
    if left.is_empty() {
        let mut old = fact;
        old.fact.status = FactStatus::Deprecated;
        old.fact.superseded_by = Some(by.to_owned());
        return (old, Vec::new());
    }
    let own = left.iter().position(|span| !span.has_ended(now)).unwrap_or(left.len() - 1);
    let itself = within(left.remove(own));
    let mut parts: Vec<FactRevision> = left.into_iter().map(within).collect();
    for part in &mut parts {
        part.fact.revision = 1;
    }
    (itself, parts)
}

/// Its next revision.
pub(super) fn next_revision(standing: &FactRevision, now: Timestamp) -> FactRevision {
    let mut next = standing.clone();
    next.fact.revision += 1;
    next.fact.recorded_at = now;
    next
}

fn is_in_force(one: &FactRevision) -> bool {
    one.fact.status != FactStatus::Deprecated
}

fn collect_ids(standing: &[&FactRevision]) -> Vec<String> {
    standing.iter().map(|one| one.fact.id.clone()).collect()
}
