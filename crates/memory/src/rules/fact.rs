//! What becomes of the facts under one key when another is claimed.

use countersign_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_core::run::Time;

use super::{Refusal, Weight, trust, weigh};
use crate::Subject;
use crate::record::{Fact, Origin};

/// A fact as it is kept: with its origin, and whose events its evidence is.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The fact.
    pub fact: Fact,
    /// The most trusted origin that claimed it.
    pub origin: Origin,
    /// Who claimed it first.
    pub by: Subject,
    /// Whose event each piece of evidence is, in its order: a fact of a tenant may rest on the words of
    /// several users, who must not see each other's.
    pub sources: Vec<Subject>,
}

/// Who answers for a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assurance {
    /// Whoever made it.
    Claimed,
    /// A person who was asked and said yes.
    Confirmed,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is kept, and nothing spoke against it.
    Kept,
    /// It was known: its evidence was added to this one.
    Supported(String),
    /// It took the place of these.
    Superseded(Vec<String>),
    /// It is kept as out of date: this one stands.
    Outdated(String),
    /// It contradicts these, and nobody knows who is right.
    Disputed(Vec<String>),
}

/// What became of a claim, and the revisions that are to be written for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    /// What became of it.
    pub outcome: Outcome,
    /// Revisions to write, all at once. None where nothing new was said.
    pub writes: Vec<Standing>,
}

/// Whether a fact could be kept by itself.
pub(crate) fn check_fact(claim: &Standing, assurance: Assurance) -> Result<(), Refusal> {
    let fact = &claim.fact;
    if fact.key.trim().is_empty() || fact.key.chars().any(char::is_control) {
        return Err(Refusal::malformed("key", "words without control characters"));
    }
    if !(0.0..=1.0).contains(&fact.confidence) {
        return Err(Refusal::malformed("confidence", "from 0 to 1"));
    }
    if let (Some(from), Some(to)) = (fact.valid_from, fact.valid_to)
        && to < from
    {
        return Err(Refusal::malformed("valid_to", "at or after `valid_from`"));
    }
    let trusted = trust(claim.origin) > trust(Origin::Web);
    if fact.level != ScopeLevel::User && !trusted && assurance == Assurance::Claimed {
        return Err(Refusal::SharedUnconfirmed { origin: claim.origin });
    }
    Ok(())
}

/// Rules on a claim among the facts that stand under its key and level, active and disputed.
///
/// One is active at any moment: the same value adds its evidence to what stands; another value wins,
/// loses or makes all of them disputed (see `weigh`); where the times of two do not overlap, neither
/// bothers the other. What a person confirmed wins over everything.
#[must_use]
pub fn rule_on_fact(
    claim: Standing,
    assurance: Assurance,
    standing: &[Standing],
    now: Time,
) -> Ruling {
    let at_once = standing.iter().filter(|other| overlap(&claim.fact, &other.fact));
    let (same, rivals): (Vec<&Standing>, Vec<&Standing>) =
        at_once.partition(|other| other.fact.value == claim.fact.value);
    if let Some(known) = same.first() {
        return support(known, claim, assurance, &rivals, now);
    }
    let mut claim = claim;
    claim.fact.revision = 1;
    claim.fact.recorded_at = now;
    claim.fact.superseded_by = None;
    let weights = rivals.iter().map(|rival| match assurance {
        Assurance::Confirmed => Weight::Wins,
        Assurance::Claimed => weigh(&claim, rival),
    });
    let weights: Vec<Weight> = weights.collect();
    let (status, outcome) = if rivals.is_empty() {
        (FactStatus::Active, Outcome::Kept)
    } else if let Some(lost) = weights.iter().position(|weight| *weight == Weight::Loses) {
        (FactStatus::Deprecated, Outcome::Outdated(rivals[lost].fact.id.clone()))
    } else if weights.contains(&Weight::Even) {
        (FactStatus::Disputed, Outcome::Disputed(ids(&rivals)))
    } else {
        (FactStatus::Active, Outcome::Superseded(ids(&rivals)))
    };
    claim.fact.status = status;
    let mut writes = Vec::new();
    match &outcome {
        Outcome::Superseded(_) => {
            writes.extend(rivals.iter().map(|rival| replaced(rival, &claim.fact.id, now)));
        }
        Outcome::Disputed(_) => {
            let doubted = rivals.iter().filter(|rival| rival.fact.status != FactStatus::Disputed);
            writes.extend(doubted.map(|rival| {
                let mut rival = next(rival, now);
                rival.fact.status = FactStatus::Disputed;
                rival
            }));
        }
        Outcome::Outdated(by) => claim.fact.superseded_by = Some(by.clone()),
        Outcome::Kept | Outcome::Supported(_) => {}
    }
    writes.push(claim);
    Ruling { outcome, writes }
}

/// Adds what a claim brings to a fact of the same value.
fn support(
    known: &Standing,
    claim: Standing,
    assurance: Assurance,
    rivals: &[&Standing],
    now: Time,
) -> Ruling {
    let mut better = next(known, now);
    for (piece, source) in claim.fact.evidence.into_iter().zip(claim.sources) {
        let mut pieces = better.fact.evidence.iter().zip(&better.sources);
        if !pieces.any(|(other, whose)| *other == piece && *whose == source) {
            better.fact.evidence.push(piece);
            better.sources.push(source);
        }
    }
    better.fact.confidence = better.fact.confidence.max(claim.fact.confidence);
    if trust(claim.origin) > trust(better.origin) {
        better.origin = claim.origin;
    }
    let mut writes = Vec::new();
    if assurance == Assurance::Confirmed {
        better.fact.status = FactStatus::Active;
        writes.extend(rivals.iter().map(|rival| replaced(rival, &better.fact.id, now)));
    }
    let mut unchanged = better.clone();
    unchanged.fact.revision = known.fact.revision;
    unchanged.fact.recorded_at = known.fact.recorded_at;
    let id = better.fact.id.clone();
    if unchanged != *known {
        writes.push(better);
    }
    Ruling { outcome: Outcome::Supported(id), writes }
}

fn ids(standing: &[&Standing]) -> Vec<String> {
    standing.iter().map(|one| one.fact.id.clone()).collect()
}

fn next(standing: &Standing, now: Time) -> Standing {
    let mut next = standing.clone();
    next.fact.revision += 1;
    next.fact.recorded_at = now;
    next
}

fn replaced(standing: &Standing, by: &str, now: Time) -> Standing {
    let mut old = next(standing, now);
    old.fact.status = FactStatus::Deprecated;
    old.fact.superseded_by = Some(by.to_owned());
    old
}

/// Whether two facts hold at some moment together. Both ends are included.
fn overlap(one: &Fact, other: &Fact) -> bool {
    let begins_in_time = |one: &Fact, other: &Fact| match (one.valid_from, other.valid_to) {
        (Some(from), Some(to)) => from <= to,
        _ => true,
    };
    begins_in_time(one, other) && begins_in_time(other, one)
}
