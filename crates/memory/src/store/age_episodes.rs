//! Ages the episodes of a subject in the store.

use countersign_contract::Timestamp;

use super::revisioned_row::RevisionedRow as _;
use super::row_store::{MemoryResult, RowStore};
use super::write::refuse_forgotten;
use crate::MemorySubject;
use crate::policy::AgeingPolicy;
use crate::record::MemoryEpisode;
use crate::rules::{self, AgedEpisode, AgeingPlan};

/// Plans the ageing of a subject's episodes.
pub(super) fn plan_ageing(
    row_store: &impl RowStore,
    subject: &MemorySubject,
    ageing: AgeingPolicy,
    now: Timestamp,
) -> MemoryResult<AgeingPlan> {
    let rows = row_store.load_rows::<MemoryEpisode>(subject, usize::MAX)?;
    let episodes: Vec<MemoryEpisode> = rows.into_iter().map(|(_, episode)| episode).collect();
    Ok(rules::plan_ageing(&episodes, ageing, now))
}

/// Ages the episodes in one transaction.
pub(super) fn age_episodes(
    row_store: &mut impl RowStore,
    subject: &MemorySubject,
    ageing: AgeingPolicy,
    now: Timestamp,
) -> MemoryResult<Vec<AgedEpisode>> {
    let AgeingPlan { writes, changes: aged } = plan_ageing(row_store, subject, ageing, now)?;
    for episode in &writes {
        refuse_forgotten(row_store, subject, MemoryEpisode::KIND, &episode.id)?;
    }
    for episode in &writes {
        row_store.put_row(subject, &episode.id, episode)?;
    }
    Ok(aged)
}
