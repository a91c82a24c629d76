//! What others have of facts that were erased.

use countersign_core::run::Time;

use super::RowKind;
use super::shelves::{Answer, Shelves, Which};
use crate::Subject;
use crate::record::Fact;
use crate::rules::without;

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
    shelves.unname(holder, &ids)?;
    for revision in without(gone, &left, now) {
        shelves.put_fact(holder, &revision)?;
    }
    Ok(())
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
