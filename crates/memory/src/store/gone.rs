//! What others have of facts that were erased.

use std::collections::BTreeMap;

use countersign_core::run::Time;

use super::RowKind;
use super::shelves::{Answer, Shelves, Which};
use crate::Subject;
use crate::record::Fact;
use crate::rules::{Standing, without};

/// Mends what is left of a holder's facts when some of them were erased: what they had replaced or disputed is
/// looked at again, and nothing names them any more.
pub(super) fn mend(
    shelves: &mut impl Shelves,
    holder: &Subject,
    gone: &[Fact],
    now: Time,
) -> Answer<()> {
    let left = shelves.facts(holder, Which::All)?;
    let ids: Vec<&str> = gone.iter().map(|fact| &*fact.id).collect();
    let ends = ends(shelves, holder, &left, &ids)?;
    shelves.unname(holder, &ids)?;
    for revision in without(gone, &left, &ends, now) {
        shelves.put_fact(holder, &revision)?;
    }
    Ok(())
}

/// How long those that the erased ones replaced would have held: as the revision before says.
fn ends(
    shelves: &impl Shelves,
    holder: &Subject,
    left: &[Standing],
    gone: &[&str],
) -> Answer<BTreeMap<String, Option<Time>>> {
    let is_replaced =
        |fact: &Fact| fact.superseded_by.as_deref().is_some_and(|by| gone.contains(&by));
    let mut ends = BTreeMap::new();
    for Standing { fact, .. } in left.iter().filter(|one| is_replaced(&one.fact)) {
        for revision in (1..fact.revision).rev() {
            let before = shelves.fact(holder, &fact.id, Some(revision))?;
            if let Some(before) = before.filter(|before| !is_replaced(&before.fact)) {
                ends.insert(fact.id.clone(), before.fact.valid_to);
                break;
            }
        }
    }
    Ok(ends)
}

/// What a fact of this holder is called in a build.
pub(super) fn kind_of(holder: &Subject) -> RowKind {
    if !holder.user.is_empty() {
        RowKind::FactOfUser
    } else if !holder.agent.is_empty() {
        RowKind::FactOfAgent
    } else {
        RowKind::FactOfTenant
    }
}
