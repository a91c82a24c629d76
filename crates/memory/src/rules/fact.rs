//! What becomes of the facts under one key when another is claimed.

use countersign_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_core::run::Time;

use super::span::Span;
use super::support::support;
use super::{Refusal, Weight, trust, weigh};
use crate::Subject;
use crate::record::{Fact, Origin};

/// A fact as it is kept: with its origin, and whose events its evidence is.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The fact.
    pub fact: Fact,
    /// The most trusted origin that claimed it; `User` once a person has confirmed it.
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
    /// It is kept, and nothing spoke against it in the time that it has.
    Kept,
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
pub struct Ruling {
    /// What became of it.
    pub outcome: Outcome,
    /// Revisions to write, all at once. None where nothing new was said.
    pub writes: Vec<Standing>,
    /// Facts to write beside them: the rest of a time that was cut in two. Each still has the id of the
    /// fact that it is a part of, and is to get one of its own.
    pub parts: Vec<Standing>,
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
/// One is active at any moment: the same value adds to what stands; another value wins, loses or is
/// disputed (see `weigh`), for the time in which both hold. Whoever loses keeps the rest of its time.
/// What a person confirmed wins over everything, and stands as what a user said.
#[must_use]
pub fn rule_on_fact(
    claim: Standing,
    assurance: Assurance,
    standing: &[Standing],
    now: Time,
) -> Ruling {
    let mut claim = claim;
    if assurance == Assurance::Confirmed {
        claim.origin = Origin::User;
        begin(&mut claim.fact, standing, now);
    }
    let time = Span::of(&claim.fact);
    let at_once = standing.iter().filter(|other| time.overlaps(Span::of(&other.fact)));
    let (same, rivals): (Vec<&Standing>, Vec<&Standing>) =
        at_once.partition(|other| other.fact.value == claim.fact.value);
    if !same.is_empty() {
        return support(&same, claim, assurance, &rivals, now);
    }
    claim.fact.revision = 1;
    claim.fact.recorded_at = now;
    claim.fact.superseded_by = None;
    claim.fact.status = FactStatus::Active;
    let (mut lost, mut even, mut won) = (Vec::new(), Vec::new(), Vec::new());
    for rival in rivals {
        let weight = match assurance {
            Assurance::Confirmed => Weight::Wins,
            Assurance::Claimed => weigh(&claim, rival),
        };
        match weight {
            Weight::Loses => lost.push(rival),
            Weight::Even => even.push(rival),
            Weight::Wins => won.push(rival),
        }
    }
    let mut parts = Vec::new();
    if let Some(by) = lost.first() {
        let taken: Vec<Span> = lost.iter().map(|one| Span::of(&one.fact)).collect();
        (claim, parts) = beside(claim, &taken, &by.fact.id, now);
    }
    // Where it holds: what is left to it, as far as that is not over.
    let holding = std::iter::once(&claim).chain(&parts).filter(|one| stands(one));
    let holding: Vec<Span> = holding.map(|one| Span::of(&one.fact)).collect();
    let contends =
        |rival: &&Standing| holding.iter().any(|span| span.overlaps(Span::of(&rival.fact)));
    even.retain(contends);
    won.retain(contends);
    let mut writes = Vec::new();
    if !even.is_empty() {
        for one in std::iter::once(&mut claim).chain(&mut parts).filter(|one| stands(one)) {
            one.fact.status = FactStatus::Disputed;
        }
        let doubted = even.iter().filter(|rival| rival.fact.status != FactStatus::Disputed);
        writes.extend(doubted.map(|rival| {
            let mut rival = next(rival, now);
            rival.fact.status = FactStatus::Disputed;
            rival
        }));
    }
    for rival in &won {
        let (old, rest) = beside(next(rival, now), &holding, &claim.fact.id, now);
        writes.push(old);
        parts.extend(rest);
    }
    let outcome = match lost.first() {
        Some(by) if !stands(&claim) => Outcome::Outdated(by.fact.id.clone()),
        _ if !even.is_empty() => Outcome::Disputed(ids(&even)),
        _ if !won.is_empty() => Outcome::Superseded(ids(&won)),
        _ => Outcome::Kept,
    };
    writes.push(claim);
    Ruling { outcome, writes, parts }
}

/// What is confirmed holds now: where a fact of its value is over, or is yet to come, and no beginning is
/// named, it begins now.
fn begin(claim: &mut Fact, standing: &[Standing], now: Time) {
    let time = Span::of(claim);
    let mut same = standing.iter().filter(|one| one.fact.value == claim.value).peekable();
    let known = same.peek().is_some();
    let holds = same.any(|one| Span::of(&one.fact).holds(now));
    if claim.valid_from.is_none() && time.holds(now) && known && !holds {
        claim.valid_from = Some(now);
    }
}

/// A fact in the time that others leave it, and the rest of that time as facts of their own. Itself it
/// has the first part that is not over; a part that is over, or a fact without any, is deprecated.
pub(super) fn beside(
    fact: Standing,
    taken: &[Span],
    by: &str,
    now: Time,
) -> (Standing, Vec<Standing>) {
    let whole = Span::of(&fact.fact);
    let mut left = whole.beside(taken);
    let within = |span: Span| {
        let mut part = fact.clone();
        (part.fact.valid_from, part.fact.valid_to) = (span.from, span.to);
        if span.to != whole.to {
            part.fact.superseded_by = Some(by.to_owned());
        }
        if span.is_over(now) {
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
    let own = left.iter().position(|span| !span.is_over(now)).unwrap_or(left.len() - 1);
    let itself = within(left.remove(own));
    let mut parts: Vec<Standing> = left.into_iter().map(within).collect();
    for part in &mut parts {
        part.fact.revision = 1;
    }
    (itself, parts)
}

/// Its next revision.
pub(super) fn next(standing: &Standing, now: Time) -> Standing {
    let mut next = standing.clone();
    next.fact.revision += 1;
    next.fact.recorded_at = now;
    next
}

fn stands(one: &Standing) -> bool {
    one.fact.status != FactStatus::Deprecated
}

fn ids(standing: &[&Standing]) -> Vec<String> {
    standing.iter().map(|one| one.fact.id.clone()).collect()
}
