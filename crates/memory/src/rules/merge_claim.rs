//! Merges a claim into an existing fact with the same value.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::FactStatus;

use super::fact_ruling::{next_revision, split_around};
use super::validity_period::ValidityPeriod;
use super::{
    ClaimAssurance, ClaimComparison, ClaimOutcome, FactRevision, FactRuling, compare_claim,
    trust_level,
};
use crate::record::MemoryFact;

/// Adds the contents of a claim to one of the overlapping facts with the same value.
///
/// Evidence and confidence are accepted from every origin. Other changes alter what was stored
/// before, so they are accepted only from an origin that is trusted at least as much as that of the
/// fact.
pub(super) fn merge_claim(
    same: &[&FactRevision],
    claim: FactRevision,
    assurance: ClaimAssurance,
    rivals: &[&FactRevision],
    now: Timestamp,
) -> FactRuling {
    let known = select_supported_fact(same, &claim.fact, now);
    let confirmed = assurance == ClaimAssurance::Confirmed;
    let mut better = next_revision(known, now);
    if trust_level(claim.origin) >= trust_level(known.origin) {
        let mut time = correct_period(&known.fact, &claim.fact, |span| {
            let mut there =
                rivals.iter().filter(|rival| span.overlaps(ValidityPeriod::from_fact(&rival.fact)));
            confirmed || there.all(|rival| compare_claim(&claim, rival) == ClaimComparison::Wins)
        });
        if confirmed && claim.fact.valid_to.is_none() && is_closed_by_rival(&known.fact, rivals) {
            time.to = None;
        }
        set_period(&mut better.fact, time);
        add_missing(&mut better.fact.tags, &claim.fact.tags);
        add_missing(&mut better.fact.entities, &claim.fact.entities);
        better.fact.preference |= claim.fact.preference;
        if !claim.fact.notes.is_empty() {
            better.fact.notes.clone_from(&claim.fact.notes);
        }
    }
    if trust_level(claim.origin) > trust_level(known.origin) {
        better.origin = claim.origin;
    }
    better.fact.confidence = better.fact.confidence.max(claim.fact.confidence);
    for (piece, source) in claim.fact.evidence.into_iter().zip(claim.sources) {
        let mut pieces = better.fact.evidence.iter().zip(&better.sources);
        if !pieces.any(|(other, whose)| *other == piece && *whose == source) {
            better.fact.evidence.push(piece);
            better.sources.push(source);
        }
    }
    let time = ValidityPeriod::from_fact(&better.fact);
    // The time the claim takes from other facts: the whole period if it is confirmed, otherwise
    // only what it adds.
    let mut taken = vec![time];
    if confirmed {
        better.fact.status = FactStatus::Active;
    } else {
        taken = time.subtract_all(&[ValidityPeriod::from_fact(&known.fact)]);
    }
    let (mut writes, mut parts) = (Vec::new(), Vec::new());
    for other in rivals.iter().chain(same).filter(|one| one.fact.id != known.fact.id) {
        if taken.iter().any(|span| span.overlaps(ValidityPeriod::from_fact(&other.fact))) {
            let (old, rest) = split_around(next_revision(other, now), &taken, &better.fact.id, now);
            writes.push(old);
            parts.extend(rest);
        }
    }
    let mut unchanged = better.clone();
    unchanged.fact.revision = known.fact.revision;
    unchanged.fact.recorded_at = known.fact.recorded_at;
    let id = better.fact.id.clone();
    if unchanged != *known {
        writes.push(better);
    }
    FactRuling { outcome: ClaimOutcome::Supported(id), writes, parts }
}

/// Selects the fact that a claim supports. A claim with an end supports the latest fact it
/// overlaps; a claim without one supports the fact that is valid now, or else the latest.
fn select_supported_fact<'a>(
    same: &[&'a FactRevision],
    claim: &MemoryFact,
    now: Timestamp,
) -> &'a FactRevision {
    let place = |one: &&&FactRevision| {
        let holds = claim.valid_to.is_none() && ValidityPeriod::from_fact(&one.fact).contains(now);
        (holds, one.fact.valid_from)
    };
    same.iter().rev().max_by_key(place).expect("there is one")
}

/// Computes the validity period of a fact after a claim with the same value. The claim's end
/// applies, and so does an earlier start, but the period is extended only where the claim wins over
/// the facts there. Bounds that the claim does not name stay unchanged.
fn correct_period(
    known: &MemoryFact,
    claim: &MemoryFact,
    may_take: impl Fn(ValidityPeriod) -> bool,
) -> ValidityPeriod {
    let mut time = ValidityPeriod::from_fact(known);
    if let (Some(new), Some(old)) = (claim.valid_from, known.valid_from)
        && new < old
        && may_take(ValidityPeriod { from: Some(new), to: Some(old.plus_millis(-1)) })
    {
        time.from = Some(new);
    }
    if let Some(new) = claim.valid_to {
        let added = known.valid_to.filter(|old| *old < new);
        let added =
            added.map(|old| ValidityPeriod { from: Some(old.plus_millis(1)), to: Some(new) });
        if added.is_none_or(may_take) {
            time.to = Some(new);
        }
    }
    time
}

/// Returns whether another fact is valid after the end of this one.
fn is_closed_by_rival(known: &MemoryFact, rivals: &[&FactRevision]) -> bool {
    let behind =
        known.valid_to.map(|end| ValidityPeriod { from: Some(end.plus_millis(1)), to: None });
    behind.is_some_and(|span| {
        rivals.iter().any(|rival| span.overlaps(ValidityPeriod::from_fact(&rival.fact)))
    })
}

fn set_period(fact: &mut MemoryFact, time: ValidityPeriod) {
    if fact.valid_to != time.to {
        // No other fact replaces this one at its new end.
        fact.superseded_by = None;
    }
    (fact.valid_from, fact.valid_to) = (time.from, time.to);
}

fn add_missing(words: &mut Vec<String>, more: &[String]) {
    for word in more {
        if !words.contains(word) {
            words.push(word.clone());
        }
    }
}
