//! Taking out what is over.

use std::collections::BTreeSet;

use countersign_contracts::memory::insight::InsightValidationState;
use countersign_core::run::Timestamp;

use super::row_store::{MemoryResult, RowStore};
use crate::MemoryScope;
use crate::record::{MemoryEvent, MemoryExpiry, MemoryInsight};

/// How far sweeping goes. What had its date is taken out always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepOptions {
    /// The run of the scope is over, and what ends with it goes too.
    pub run_ended: bool,
    /// What a build used goes too, and that build cannot be composed again; and guesses that were not validated, whose
    /// words are kept from nobody then.
    pub include_used: bool,
}

/// What was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepReport {
    /// Events.
    pub events: u64,
    /// Guesses.
    pub insights: u64,
    /// What is over and stays: what a build used, and guesses that were not validated.
    pub retained: u64,
}

/// What sweeping takes out, and how much it spares.
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

/// What sweeping would take out.
pub(super) fn preview_sweep(
    shelves: &impl RowStore,
    scope: &MemoryScope,
    sweep: SweepOptions,
    now: Timestamp,
) -> MemoryResult<SweepReport> {
    Ok(collect_expired(shelves, scope, sweep, now)?.to_report())
}

/// Takes out what is over, with its part of the index.
pub(super) fn sweep_expired(
    shelves: &mut impl RowStore,
    scope: &MemoryScope,
    sweep: SweepOptions,
    now: Timestamp,
) -> MemoryResult<SweepReport> {
    let over = collect_expired(shelves, scope, sweep, now)?;
    let subject = scope.subject();
    if !over.events.is_empty() {
        shelves.remove_events(&subject, &over.events)?;
    }
    for id in &over.insights {
        shelves.remove_row::<MemoryInsight>(&subject, id)?;
    }
    Ok(over.to_report())
}

fn collect_expired(
    shelves: &impl RowStore,
    scope: &MemoryScope,
    sweep: SweepOptions,
    now: Timestamp,
) -> MemoryResult<ExpiredRows> {
    scope.check()?;
    let subject = scope.subject();
    let ended = |expires: MemoryExpiry, run: &str| match expires {
        MemoryExpiry::At(end) => end < now,
        MemoryExpiry::RunEnd => sweep.run_ended && run == scope.run(),
    };
    let mut over =
        ExpiredRows { events: shelves.load_expiring_events(&subject)?, ..ExpiredRows::default() };
    over.events.retain(|event| event.expires.is_some_and(|end| ended(end, event.scope.run())));
    for (id, insight) in shelves.load_rows::<MemoryInsight>(&subject, usize::MAX)? {
        if !ended(insight.expires, &insight.run) {
            continue;
        }
        // It is shown to nobody any more; but others may have said it, and those words must not reach a responder.
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
    let used = shelves.find_used_ids(&subject, &ids.into_iter().collect::<Vec<_>>())?;
    let all = over.events.len() + over.insights.len();
    over.events.retain(|event| !used.contains(&event.id));
    over.insights.retain(|id| !used.contains(id));
    over.retained += (all - over.events.len() - over.insights.len()) as u64;
    Ok(over)
}
