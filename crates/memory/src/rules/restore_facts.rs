//! Restores facts when the facts that replaced or disputed them are erased.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::FactStatus;

use super::fact_ruling::next_revision;
use super::{FactRevision, ValidityPeriod};
use crate::record::MemoryFact;

/// Returns the next revisions of an owner's remaining facts after some facts were removed. A fact
/// whose successors are all gone becomes valid again for as long as it would have been (`ends`, if
/// known). A disputed fact becomes active when no remaining fact disputes it.
#[must_use]
pub(crate) fn restore_after_removal(
    gone: &[MemoryFact],
    left: &[FactRevision],
    ends: &BTreeMap<String, Option<Timestamp>>,
    now: Timestamp,
) -> Vec<FactRevision> {
    let gone: BTreeMap<&str, &MemoryFact> = gone.iter().map(|fact| (&*fact.id, fact)).collect();
    let keys: BTreeSet<&str> = gone.values().map(|fact| &*fact.key).collect();
    let left: Vec<&FactRevision> =
        left.iter().filter(|one| keys.contains(one.fact.key.as_str())).collect();
    let standing = || left.iter().filter(|one| one.fact.status != FactStatus::Deprecated);
    let mut writes = Vec::new();
    let mut back = Vec::new();
    for one in &left {
        let by = one.fact.superseded_by.as_deref().and_then(|by| gone.get(by));
        let Some(by) = by else { continue };
        let mut next = next_revision(one, now);
        let was_closed = one.fact.valid_to.is_some()
            && one.fact.valid_to == by.valid_from.map(|from| from.plus_millis(-1));
        if let Some(end) = ends.get(&one.fact.id).filter(|_| was_closed) {
            next.fact.valid_to = earlier_end(*end, by.valid_to);
        }
        let later = find_remaining_successor(&by.id, &gone);
        let later = later.and_then(|by| left.iter().find(|other| other.fact.id == by));
        let rival = || {
            standing().find(|other| {
                other.fact.id != next.fact.id && are_overlapping(&next.fact, &other.fact)
            })
        };
        let Some(other) = later.or_else(rival) else {
            next.fact.superseded_by = None;
            back.push(next);
            continue;
        };
        next.fact.superseded_by = Some(other.fact.id.clone());
        if let Some(from) = other.fact.valid_from.filter(|from| next.fact.valid_from < Some(*from))
        {
            next.fact.valid_to = earlier_end(next.fact.valid_to, Some(from.plus_millis(-1)));
            // Another fact replaces it later; it is valid until then.
            if ValidityPeriod::from_fact(&next.fact).contains(now) {
                next.fact.status = FactStatus::Active;
            }
        }
        writes.push(next);
    }
    // Facts that are restored together may contradict each other, as they did before.
    let disputed: Vec<bool> =
        back.iter().map(|one| back.iter().any(|other| are_contradictory(one, other))).collect();
    for (one, disputed) in back.iter_mut().zip(disputed) {
        one.fact.status = if disputed { FactStatus::Disputed } else { FactStatus::Active };
    }
    writes.append(&mut back);
    for one in standing().filter(|one| one.fact.status == FactStatus::Disputed) {
        if !standing().any(|other| are_contradictory(one, other)) {
            let mut next = next_revision(one, now);
            next.fact.status = FactStatus::Active;
            writes.push(next);
        }
    }
    writes
}

/// Follows the chain of removed successors and returns the first that remains.
fn find_remaining_successor<'a>(
    first: &'a str,
    gone: &BTreeMap<&str, &'a MemoryFact>,
) -> Option<&'a str> {
    let mut by = first;
    for _ in 0..gone.len() {
        by = gone.get(by)?.superseded_by.as_deref()?;
        if !gone.contains_key(by) {
            return Some(by);
        }
    }
    None
}

fn are_contradictory(one: &FactRevision, other: &FactRevision) -> bool {
    let (one, other) = (&one.fact, &other.fact);
    one.key == other.key && one.value != other.value && are_overlapping(one, other)
}

fn are_overlapping(one: &MemoryFact, other: &MemoryFact) -> bool {
    one.key == other.key
        && ValidityPeriod::from_fact(one).overlaps(ValidityPeriod::from_fact(other))
}

/// Returns the earlier of two ends; a missing end is later than any timestamp.
fn earlier_end(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    [one, other].into_iter().flatten().min()
}
