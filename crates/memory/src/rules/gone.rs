//! What becomes of facts when others are forgotten.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::long_term::FactStatus;
use countersign_core::run::Time;

use super::fact::next;
use super::{Span, Standing};
use crate::record::Fact;

/// The next revisions of what is left of a holder's facts when some are gone. What was replaced by nothing that is
/// left stands again, for as long as it would have held (`ends`, where that is known), and what is disputed by
/// nothing that is left is active.
#[must_use]
pub(crate) fn without(
    gone: &[Fact],
    left: &[Standing],
    ends: &BTreeMap<String, Option<Time>>,
    now: Time,
) -> Vec<Standing> {
    let gone: BTreeMap<&str, &Fact> = gone.iter().map(|fact| (&*fact.id, fact)).collect();
    let keys: BTreeSet<&str> = gone.values().map(|fact| &*fact.key).collect();
    let left: Vec<&Standing> =
        left.iter().filter(|one| keys.contains(one.fact.key.as_str())).collect();
    let standing = || left.iter().filter(|one| one.fact.status != FactStatus::Deprecated);
    let mut writes = Vec::new();
    let mut back = Vec::new();
    for one in &left {
        let by = one.fact.superseded_by.as_deref().and_then(|by| gone.get(by));
        let Some(by) = by else { continue };
        let mut next = next(one, now);
        let was_closed = one.fact.valid_to.is_some()
            && one.fact.valid_to == by.valid_from.map(|from| from.after(-1));
        if let Some(end) = ends.get(&one.fact.id).filter(|_| was_closed) {
            next.fact.valid_to = earlier(*end, by.valid_to);
        }
        let later = behind(&by.id, &gone);
        let later = later.and_then(|by| left.iter().find(|other| other.fact.id == by));
        let rival = || {
            standing()
                .find(|other| other.fact.id != next.fact.id && overlap(&next.fact, &other.fact))
        };
        let Some(other) = later.or_else(rival) else {
            next.fact.superseded_by = None;
            back.push(next);
            continue;
        };
        next.fact.superseded_by = Some(other.fact.id.clone());
        if let Some(from) = other.fact.valid_from.filter(|from| next.fact.valid_from < Some(*from))
        {
            next.fact.valid_to = earlier(next.fact.valid_to, Some(from.after(-1)));
            // It is replaced some day, and holds until then.
            if Span::of(&next.fact).holds(now) {
                next.fact.status = FactStatus::Active;
            }
        }
        writes.push(next);
    }
    // Those that come back together may contradict each other, as they did before.
    let disputed: Vec<bool> =
        back.iter().map(|one| back.iter().any(|other| contradict(one, other))).collect();
    for (one, disputed) in back.iter_mut().zip(disputed) {
        one.fact.status = if disputed { FactStatus::Disputed } else { FactStatus::Active };
    }
    writes.append(&mut back);
    for one in standing().filter(|one| one.fact.status == FactStatus::Disputed) {
        if !standing().any(|other| contradict(one, other)) {
            let mut next = next(one, now);
            next.fact.status = FactStatus::Active;
            writes.push(next);
        }
    }
    writes
}

/// What replaced the last of those that are gone.
fn behind<'a>(first: &'a str, gone: &BTreeMap<&str, &'a Fact>) -> Option<&'a str> {
    let mut by = first;
    for _ in 0..gone.len() {
        by = gone.get(by)?.superseded_by.as_deref()?;
        if !gone.contains_key(by) {
            return Some(by);
        }
    }
    None
}

fn contradict(one: &Standing, other: &Standing) -> bool {
    let (one, other) = (&one.fact, &other.fact);
    one.key == other.key && one.value != other.value && overlap(one, other)
}

fn overlap(one: &Fact, other: &Fact) -> bool {
    one.key == other.key && Span::of(one).overlaps(Span::of(other))
}

/// The earlier of two ends; none is later than any.
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    [one, other].into_iter().flatten().min()
}
