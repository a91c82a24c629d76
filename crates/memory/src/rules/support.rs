//! What a claim brings to a fact of the same value.

use countersign_contracts::memory::long_term::FactStatus;
use countersign_core::run::Time;

use super::fact::{beside, next};
use super::span::Span;
use super::{Assurance, Outcome, Ruling, Standing, Weight, trust, weigh};
use crate::record::Fact;

/// Adds what a claim brings to one of the facts of the same value that hold in its time.
///
/// Evidence and confidence are taken from anybody; the rest only from an origin that is trusted as far
/// as the fact itself, for it changes what was said before.
pub(super) fn support(
    same: &[&Standing],
    claim: Standing,
    assurance: Assurance,
    rivals: &[&Standing],
    now: Time,
) -> Ruling {
    let known = meant(same, &claim.fact, now);
    let confirmed = assurance == Assurance::Confirmed;
    let mut better = next(known, now);
    if trust(claim.origin) >= trust(known.origin) {
        let mut time = corrected(&known.fact, &claim.fact, |span| {
            let mut there = rivals.iter().filter(|rival| span.overlaps(Span::of(&rival.fact)));
            confirmed || there.all(|rival| weigh(&claim, rival) == Weight::Wins)
        });
        if confirmed && claim.fact.valid_to.is_none() && was_closed(&known.fact, rivals) {
            time.to = None;
        }
        set_time(&mut better.fact, time);
        add(&mut better.fact.tags, &claim.fact.tags);
        add(&mut better.fact.entities, &claim.fact.entities);
        better.fact.preference |= claim.fact.preference;
        if !claim.fact.notes.is_empty() {
            better.fact.notes.clone_from(&claim.fact.notes);
        }
    }
    if trust(claim.origin) > trust(known.origin) {
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
    let time = Span::of(&better.fact);
    // Where it takes time from others: all it has, where it is confirmed, else what it has got.
    let mut taken = vec![time];
    if confirmed {
        better.fact.status = FactStatus::Active;
    } else {
        taken = time.beside(&[Span::of(&known.fact)]);
    }
    let (mut writes, mut parts) = (Vec::new(), Vec::new());
    for other in rivals.iter().chain(same).filter(|one| one.fact.id != known.fact.id) {
        if taken.iter().any(|span| span.overlaps(Span::of(&other.fact))) {
            let (old, rest) = beside(next(other, now), &taken, &better.fact.id, now);
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
    Ruling { outcome: Outcome::Supported(id), writes, parts }
}

/// Which of several a claim speaks of: the last that it reaches where it names an end, else the one that
/// holds now, else the last.
fn meant<'a>(same: &[&'a Standing], claim: &Fact, now: Time) -> &'a Standing {
    let place = |one: &&&Standing| {
        let holds = claim.valid_to.is_none() && Span::of(&one.fact).holds(now);
        (holds, one.fact.valid_from)
    };
    same.iter().rev().max_by_key(place).expect("there is one")
}

/// The time of a fact after a claim of its value: an end that is named holds, an earlier beginning too;
/// more time than it had only where the claim wins over what stands there. What a claim does not name, stays.
fn corrected(known: &Fact, claim: &Fact, may_take: impl Fn(Span) -> bool) -> Span {
    let mut time = Span::of(known);
    if let (Some(new), Some(old)) = (claim.valid_from, known.valid_from)
        && new < old
        && may_take(Span { from: Some(new), to: Some(old.after(-1)) })
    {
        time.from = Some(new);
    }
    if let Some(new) = claim.valid_to {
        let added = known.valid_to.filter(|old| *old < new);
        let added = added.map(|old| Span { from: Some(old.after(1)), to: Some(new) });
        if added.is_none_or(may_take) {
            time.to = Some(new);
        }
    }
    time
}

/// Whether something else stands behind the end of a fact.
fn was_closed(known: &Fact, rivals: &[&Standing]) -> bool {
    let behind = known.valid_to.map(|end| Span { from: Some(end.after(1)), to: None });
    behind.is_some_and(|span| rivals.iter().any(|rival| span.overlaps(Span::of(&rival.fact))))
}

fn set_time(fact: &mut Fact, time: Span) {
    if fact.valid_to != time.to {
        // Nothing took its place there.
        fact.superseded_by = None;
    }
    (fact.valid_from, fact.valid_to) = (time.from, time.to);
}

fn add(words: &mut Vec<String>, more: &[String]) {
    for word in more {
        if !words.contains(word) {
            words.push(word.clone());
        }
    }
}
