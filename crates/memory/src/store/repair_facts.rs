//! Repairs the remaining facts after others were erased.

use std::collections::BTreeMap;

use countersign_contract::Timestamp;

use super::BuildRowKind;
use super::row_store::{FactFilter, MemoryResult, RowStore};
use crate::MemorySubject;
use crate::record::MemoryFact;
use crate::rules::{FactRevision, restore_after_removal};

/// Repairs an owner's remaining facts after some were erased: re-evaluates the facts that the
/// erased ones replaced or disputed, and removes references to them.
pub(super) fn repair_facts(
    row_store: &mut impl RowStore,
    holder: &MemorySubject,
    gone: &[MemoryFact],
    now: Timestamp,
) -> MemoryResult<()> {
    let left = row_store.load_facts(holder, FactFilter::All)?;
    let ids: Vec<&str> = gone.iter().map(|fact| &*fact.id).collect();
    let ends = load_original_ends(row_store, holder, &left, &ids)?;
    row_store.redact_ids(holder, &ids)?;
    for revision in restore_after_removal(gone, &left, &ends, now) {
        row_store.put_fact(holder, &revision)?;
    }
    Ok(())
}

/// Loads the original ends of facts that the erased ones replaced, from the revision before the
/// replacement.
fn load_original_ends(
    row_store: &impl RowStore,
    holder: &MemorySubject,
    left: &[FactRevision],
    gone: &[&str],
) -> MemoryResult<BTreeMap<String, Option<Timestamp>>> {
    let is_replaced =
        |fact: &MemoryFact| fact.superseded_by.as_deref().is_some_and(|by| gone.contains(&by));
    let mut ends = BTreeMap::new();
    for FactRevision { fact, .. } in left.iter().filter(|one| is_replaced(&one.fact)) {
        for revision in (1..fact.revision).rev() {
            let before = row_store.load_fact(holder, &fact.id, Some(revision))?;
            if let Some(before) = before.filter(|before| !is_replaced(&before.fact)) {
                ends.insert(fact.id.clone(), before.fact.valid_to);
                break;
            }
        }
    }
    Ok(ends)
}

/// Returns the kind that facts of this owner have in a build.
pub(super) fn fact_row_kind(holder: &MemorySubject) -> BuildRowKind {
    if !holder.user.is_empty() {
        BuildRowKind::UserFact
    } else if !holder.agent.is_empty() {
        BuildRowKind::AgentFact
    } else {
        BuildRowKind::TenantFact
    }
}
