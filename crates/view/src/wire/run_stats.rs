//! Statistics of runs, as the API sends them.

use std::collections::BTreeMap;

use countersign_store::{RunStats, RunTotals};
use serde::Serialize;
use utoipa::ToSchema;

/// Statistics of the runs that were created in a period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunStatsView {
    /// The start of the period, in Unix milliseconds.
    pub since: i64,
    /// The end of the period, in Unix milliseconds; runs that were created then are not counted.
    pub until: i64,
    /// All runs of the period.
    pub total: RunTotalsView,
    /// The runs of each day: the newest day first. Days without runs are left out.
    pub days: Vec<RunDayTotalsView>,
    /// The runs of each day and workflow: the newest day first, then by workflow. Days without
    /// runs are left out.
    pub items: Vec<RunStatsDay>,
    /// Whether the period has more than 100,000 runs; only the newest ones are counted then.
    pub truncated: bool,
}

/// The runs that were created on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunDayTotalsView {
    /// The start of the day in UTC, in Unix milliseconds.
    pub day: i64,
    /// The totals of these runs.
    pub totals: RunTotalsView,
}

/// The runs of one workflow that were created on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunStatsDay {
    /// The start of the day in UTC, in Unix milliseconds.
    pub day: i64,
    /// The id of the workflow.
    pub workflow: String,
    /// The totals of these runs.
    pub totals: RunTotalsView,
}

/// Sums over several runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunTotalsView {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs by status.
    pub statuses: BTreeMap<String, u64>,
    /// Half of the runs that ended took at most this long, in milliseconds. Null if none ended.
    pub duration_p50_ms: Option<i64>,
    /// 95 % of the runs that ended took at most this long, in milliseconds. Null if none ended.
    pub duration_p95_ms: Option<i64>,
    /// The number of tokens sent to models.
    pub input_tokens: u64,
    /// The number of tokens received from models.
    pub output_tokens: u64,
    /// The cost of all model calls, in millionths of the currency.
    pub cost: u64,
}

impl RunStatsView {
    /// Builds the view of statistics of a period.
    #[must_use]
    pub fn new(since: i64, until: i64, stats: RunStats) -> Self {
        let items = stats.rows.into_iter().map(|row| RunStatsDay {
            day: row.day,
            workflow: row.workflow,
            totals: row.totals.into(),
        });
        let days = stats.days.into_iter();
        let days = days.map(|one| RunDayTotalsView { day: one.day, totals: one.totals.into() });
        Self {
            since,
            until,
            total: stats.total.into(),
            days: days.collect(),
            items: items.collect(),
            truncated: stats.truncated,
        }
    }
}

impl From<RunTotals> for RunTotalsView {
    fn from(totals: RunTotals) -> Self {
        Self {
            runs: totals.runs,
            statuses: totals.statuses,
            duration_p50_ms: totals.duration_p50,
            duration_p95_ms: totals.duration_p95,
            input_tokens: totals.input_tokens,
            output_tokens: totals.output_tokens,
            cost: totals.cost,
        }
    }
}
