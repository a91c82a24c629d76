//! What becomes of facts when others are forgotten.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contracts::memory::long_term::FactStatus;
use countersign_core::run::Time;

use super::Standing;
use crate::record::Fact;

/// The next revisions of what is left of a holder's facts when some are gone. What was replaced by nothing that is
/// left stands again, and what is disputed by nothing that is left is active.
#[must_use]
pub(crate) fn without(gone: &[Fact], left: &[Standing], now: Time) -> Vec<Standing> {
    let gone: BTreeMap<&str, &Fact> = gone.iter().map(|fact| (&*fact.id, fact)).collect();
    let keys: BTreeSet<&str> = gone.values().map(|fact| &*fact.key).collect();
    let left: Vec<&Standing> =
        left.iter().filter(|one| keys.contains(one.fact.key.as_str())).collect();
    let standing = || left.iter().filter(|one| one.fact.status != FactStatus::Deprecated);
    let mut writes = Vec::new();
    let mut back = Vec::new();
    for one in &left {
        let by = one.fact.superseded_by.as_deref();
        let Some(by) = by.filter(|by| gone.contains_key(by)) else { continue };
        let mut next = next(one, now);
        let later = behind(by, &gone).filter(|by| left.iter().any(|other| other.fact.id == *by));
        let rival = || standing().find(|other| overlap(&one.fact, &other.fact));
        next.fact.superseded_by =
            later.or_else(|| rival().map(|other| &*other.fact.id)).map(str::to_owned);
        if next.fact.superseded_by.is_some() { writes.push(next) } else { back.push(next) }
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

fn next(standing: &Standing, now: Time) -> Standing {
    let mut next = standing.clone();
    next.fact.revision += 1;
    next.fact.recorded_at = now;
    next
}

fn contradict(one: &Standing, other: &Standing) -> bool {
    let (one, other) = (&one.fact, &other.fact);
    one.key == other.key && one.value != other.value && overlap(one, other)
}

/// Whether both hold at some moment. Both ends are included.
fn overlap(one: &Fact, other: &Fact) -> bool {
    let in_time = |one: &Fact, other: &Fact| match (one.valid_from, other.valid_to) {
        (Some(from), Some(to)) => from <= to,
        _ => true,
    };
    one.key == other.key && in_time(one, other) && in_time(other, one)
}
