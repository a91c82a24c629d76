//! Decides what happens to the facts under one key when another fact is claimed.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};

use super::merge_claim::merge_claim;
use super::validity_period::ValidityPeriod;
use super::{ClaimComparison, MemoryRefusal, compare_claim, trust_level};
use crate::MemorySubject;
use crate::record::{MemoryFact, MemoryOrigin};

/// A revision of a fact as it is stored: with its origin and the owners of the events it cites.
#[derive(Debug, Clone, PartialEq)]
pub struct FactRevision {
    /// The fact itself.
    pub fact: MemoryFact,
    /// The most trusted origin that claimed the fact; `User` once a person has confirmed it.
    pub origin: MemoryOrigin,
    /// The subject that claimed the fact first.
    pub claimed_by: MemorySubject,
    /// The owner of each cited event, in the order of the evidence. A fact of a tenant may cite the
    /// words of several users, who must not see each other's events.
    pub sources: Vec<MemorySubject>,
}

/// How far a claim is confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimAssurance {
    /// Only its origin supports the claim.
    Claimed,
    /// A person was asked and confirmed the claim.
    Confirmed,
}

/// The result of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The claim is stored, and nothing contradicts it within its validity period.
    Added,
    /// The value was already known; the claim's evidence was added to this fact.
    Supported(String),
    /// The claim replaced these facts for its validity period.
    Superseded(Vec<String>),
    /// The claim is stored as deprecated, because this fact prevails.
    Outdated(String),
    /// The claim contradicts these facts, and the rules cannot decide between them.
    Disputed(Vec<String>),
}

/// The result of a claim and the revisions to write for it.
#[derive(Debug, Clone, PartialEq)]
pub struct FactRuling {
    /// The result of the claim.
    pub outcome: ClaimOutcome,
    /// Revisions to write in one transaction; empty if the claim adds nothing new.
    pub writes: Vec<FactRevision>,
    /// Additional facts to write: the remaining parts of validity periods that were split. Each
    /// part still has the id of its original fact; the store assigns a new id.
    pub parts: Vec<FactRevision>,
}

/// Checks a fact on its own, without regard to other facts.
pub(crate) fn check_fact(
    claim: &FactRevision,
    assurance: ClaimAssurance,
) -> Result<(), MemoryRefusal> {
    let fact = &claim.fact;
    if fact.key.trim().is_empty() || fact.key.chars().any(char::is_control) {
        return Err(MemoryRefusal::malformed("key", "a text without control characters"));
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

/// Resolves a claim against the active and disputed facts of its key and level.
///
/// At most one fact is active at any timestamp. The same value adds to the existing fact. Another
/// value wins, loses or is disputed (see [`compare_claim()`]) for the time in which both are valid,
/// and the loser keeps the rest of its validity period. A claim that a person confirmed wins over
/// everything and is stored with the origin `User`.
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
    // The periods in which the claim holds: the remaining parts that have not ended.
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

/// Sets the start of a confirmed claim to now if the claim names no start and the existing fact
/// with the same value has ended or has not begun. A confirmed claim holds now.
fn set_confirmed_start(claim: &mut MemoryFact, standing: &[FactRevision], now: Timestamp) {
    let time = ValidityPeriod::from_fact(claim);
    let mut same = standing.iter().filter(|one| one.fact.value == claim.value).peekable();
    let known = same.peek().is_some();
    let holds = same.any(|one| ValidityPeriod::from_fact(&one.fact).contains(now));
    if claim.valid_from.is_none() && time.contains(now) && known && !holds {
        claim.valid_from = Some(now);
    }
}

/// Restricts a fact to the time that other facts leave, and returns the remaining parts as separate
/// facts. The fact itself keeps the first part that has not ended; parts that have ended, and a
/// fact with no part left, are deprecated.
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

/// Creates the next revision of a fact, recorded now.
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
