//! Statistics of runs: how many there were in a period, how long they took, and what they cost. A
//! store reads the columns of the runs, and this file sums them up, so that every store agrees.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::TenantId;

/// Maximum number of runs that [`RunStats`] are computed from; the newest ones count.
pub const MAX_STATS_RUNS: usize = 100_000;

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Selects the runs that statistics are computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStatsFilter {
    /// Tenant whose runs are counted.
    pub tenant: TenantId,
    /// Counts runs that were created at this time or later, in milliseconds since the Unix epoch.
    pub since: i64,
    /// Counts runs that were created before this time, in milliseconds since the Unix epoch.
    pub until: i64,
    /// Counts only runs of this workflow.
    pub workflow: Option<String>,
    /// Maximum number of runs to read, at most [`MAX_STATS_RUNS`]; the newest ones count.
    pub limit: usize,
}

/// Statistics of the runs of a period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunStats {
    /// All runs of the period.
    pub total: RunTotals,
    /// Totals per day, newest day first.
    pub days: Vec<RunDayTotals>,
    /// Totals per day and workflow, newest day first, then by workflow.
    pub rows: Vec<RunStatsRow>,
    /// Whether the period has more runs than the limit, so that the oldest are left out.
    pub truncated: bool,
}

/// The runs that were created on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDayTotals {
    /// Start of the day in UTC, in milliseconds since the Unix epoch.
    pub day: i64,
    /// Totals of these runs.
    pub totals: RunTotals,
}

/// The runs of one workflow that were created on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStatsRow {
    /// Start of the day in UTC, in milliseconds since the Unix epoch.
    pub day: i64,
    /// Name of the workflow.
    pub workflow: String,
    /// Totals of these runs.
    pub totals: RunTotals,
}

/// Sums over several runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunTotals {
    /// Number of runs.
    pub runs: u64,
    /// Number of runs by status.
    pub statuses: BTreeMap<String, u64>,
    /// Half of the runs that ended took at most this long, in milliseconds; `None` if none ended.
    pub duration_p50: Option<i64>,
    /// 95 % of the runs that ended took at most this long, in milliseconds; `None` if none ended.
    pub duration_p95: Option<i64>,
    /// Number of tokens in prompts.
    pub input_tokens: u64,
    /// Number of tokens in replies.
    pub output_tokens: u64,
    /// Cost in millionths of the currency.
    pub cost: u64,
}

/// The columns of one run that statistics use.
#[derive(Debug)]
pub(crate) struct RunFigures {
    pub(crate) created_at: i64,
    pub(crate) workflow: String,
    pub(crate) status: String,
    pub(crate) ended_at: Option<i64>,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cost: u64,
}

#[derive(Default)]
struct TotalsBuilder {
    totals: RunTotals,
    durations: Vec<i64>,
}

impl TotalsBuilder {
    fn add(&mut self, run: &RunFigures) {
        self.totals.runs += 1;
        match self.totals.statuses.get_mut(&run.status) {
            Some(count) => *count += 1,
            None => drop(self.totals.statuses.insert(run.status.clone(), 1)),
        }
        let ended = run.ended_at.map(|ended| ended.saturating_sub(run.created_at).max(0));
        self.durations.extend(ended);
        let totals = &mut self.totals;
        totals.input_tokens = totals.input_tokens.saturating_add(run.input_tokens);
        totals.output_tokens = totals.output_tokens.saturating_add(run.output_tokens);
        totals.cost = totals.cost.saturating_add(run.cost);
    }

    fn finish(mut self) -> RunTotals {
        self.durations.sort_unstable();
        self.totals.duration_p50 = compute_percentile(&self.durations, 50);
        self.totals.duration_p95 = compute_percentile(&self.durations, 95);
        self.totals
    }
}

/// The smallest duration that at least `percent` of all do not exceed.
fn compute_percentile(sorted: &[i64], percent: usize) -> Option<i64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

impl RunStatsFilter {
    /// The number of runs to read: one more than the limit shows that there are more.
    pub(crate) fn read_limit(&self) -> usize {
        self.limit.min(MAX_STATS_RUNS) + 1
    }

    /// Sums up runs, newest first, that were read with [`read_limit`](Self::read_limit).
    pub(crate) fn sum_up(&self, runs: impl Iterator<Item = RunFigures>) -> RunStats {
        let limit = self.limit.min(MAX_STATS_RUNS);
        let mut total = TotalsBuilder::default();
        let mut days: BTreeMap<Reverse<i64>, TotalsBuilder> = BTreeMap::new();
        let mut rows: BTreeMap<(Reverse<i64>, String), TotalsBuilder> = BTreeMap::new();
        let mut truncated = false;
        for (number, run) in runs.enumerate() {
            if number == limit {
                truncated = true;
                break;
            }
            total.add(&run);
            let day = run.created_at.div_euclid(DAY_MS).saturating_mul(DAY_MS);
            days.entry(Reverse(day)).or_default().add(&run);
            rows.entry((Reverse(day), run.workflow.clone())).or_default().add(&run);
        }
        let rows = rows.into_iter().map(|((day, workflow), totals)| RunStatsRow {
            day: day.0,
            workflow,
            totals: totals.finish(),
        });
        let days = days
            .into_iter()
            .map(|(day, totals)| RunDayTotals { day: day.0, totals: totals.finish() });
        RunStats { total: total.finish(), days: days.collect(), rows: rows.collect(), truncated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        assert_eq!(compute_percentile(&[], 50), None);
        assert_eq!(compute_percentile(&[7], 95), Some(7));
        assert_eq!(compute_percentile(&[1, 2, 3, 4], 50), Some(2));
        let hundred: Vec<i64> = (1..=100).collect();
        assert_eq!(compute_percentile(&hundred, 95), Some(95));
    }
}
