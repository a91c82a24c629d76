//! Sweeps expired rows.

use std::collections::BTreeSet;

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::insight::InsightValidationState;

use super::expired_rows::ExpiryFilter;
use super::row_store::{MemoryResult, RowStore};
use crate::MemoryScope;
use crate::record::{MemoryEvent, MemoryInsight};

/// Options of a sweep. Rows whose expiry timestamp has passed are always removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepOptions {
    /// Whether the run of the scope has ended, so that rows that end with it are removed too.
    pub run_ended: bool,
    /// Whether to remove rows that a build used, which can then not be composed again, and
    /// unvalidated insights, whose words are then no longer withheld from anyone.
    pub include_used: bool,
}

/// The report of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepReport {
    /// The number of removed events.
    pub events: u64,
    /// The number of removed insights.
    pub insights: u64,
    /// The number of expired rows that stay: those a build used, and unvalidated insights.
    pub retained: u64,
}

/// The rows to remove, and the number of expired rows that stay.
#[derive(Debug, Default)]
struct ExpiredRows {
    events: Vec<MemoryEvent>,
    insights: Vec<String>,
    retained: u64,
}

impl ExpiredRows {
    fn to_report(&self) -> SweepReport {
        let (events, insights) = (self.events.len() as u64, self.insights.len() as u64);
        SweepReport { events, insights, retained: self.retained }
    }
}

/// Reports what a sweep would remove.
pub(super) fn preview_sweep(
    row_store: &impl RowStore,
    scope: &MemoryScope,
    sweep: SweepOptions,
    now: Timestamp,
) -> MemoryResult<SweepReport> {
    Ok(collect_expired(row_store, scope, sweep, now)?.to_report())
}

/// Removes expired rows and their index entries.
pub(super) fn sweep_expired(
    row_store: &mut impl RowStore,
    scope: &MemoryScope,
    sweep: SweepOptions,
    now: Timestamp,
) -> MemoryResult<SweepReport> {
    let over = collect_expired(row_store, scope, sweep, now)?;
    let subject = scope.subject();
    if !over.events.is_empty() {
        row_store.remove_events(&subject, &over.events)?;
    }
    for id in &over.insights {
        row_store.remove_row::<MemoryInsight>(&subject, id)?;
    }
    Ok(over.to_report())
}

fn collect_expired(
    row_store: &impl RowStore,
    scope: &MemoryScope,
    sweep: SweepOptions,
    now: Timestamp,
) -> MemoryResult<ExpiredRows> {
    scope.check()?;
    let subject = scope.subject();
    let filter = ExpiryFilter { now, ended_run: sweep.run_ended.then_some(scope.run()) };
    let events = row_store.load_expired_events(&subject, filter)?;
    let mut over = ExpiredRows { events, ..ExpiredRows::default() };
    for (id, insight) in row_store.load_expired_insights(&subject, filter)? {
        // An expired insight is no longer shown, but other texts may repeat it, and its words must
        // not reach a responder.
        if sweep.include_used || insight.validation == InsightValidationState::Validated {
            over.insights.push(id);
        } else {
            over.retained += 1;
        }
    }
    if sweep.include_used {
        return Ok(over);
    }
    let ids = over.events.iter().map(|event| &event.id).chain(&over.insights);
    let ids: BTreeSet<&str> = ids.map(String::as_str).collect();
    if ids.is_empty() {
        return Ok(over);
    }
    let used = row_store.find_used_ids(&subject, &ids.into_iter().collect::<Vec<_>>())?;
    let all = over.events.len() + over.insights.len();
    over.events.retain(|event| !used.contains(&event.id));
    over.insights.retain(|id| !used.contains(id));
    over.retained += (all - over.events.len() - over.insights.len()) as u64;
    Ok(over)
}
