//! Statistics of runs: counts, durations, tokens and cost per day and workflow.

use axum::Json;
use countersign_run::Timestamp;
use countersign_store::{MAX_STATS_RUNS, RunStatsFilter};
use countersign_view::wire::RunStatsView;
use serde::Deserialize;
use utoipa::IntoParams;

use super::ApiError;
use super::extract::ApiQuery;
use super::runs::parse_query_time;
use crate::access::Caller;

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Number of days that statistics cover by default.
const DEFAULT_DAYS: i64 = 30;

/// Maximum number of days that statistics cover.
const MAX_DAYS: i64 = 366;

/// The period of statistics.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunStatsQuery {
    /// Only runs that were created at this time or later (RFC 3339). Default: the start of the day
    /// 29 days before `until`, in UTC. At most 366 days before `until`.
    pub(crate) since: Option<String>,
    /// Only runs that were created before this time (RFC 3339). Default: now.
    pub(crate) until: Option<String>,
    /// Only runs of this workflow.
    pub(crate) workflow: Option<String>,
}

/// Get statistics of runs per day and workflow.
///
/// A run counts on the day on which it was created, in UTC, with everything it has cost until now.
/// Durations are those of the runs that have ended.
#[utoipa::path(get, path = "/v1/stats", tag = "runs", params(RunStatsQuery), responses((status = 200, body = RunStatsView)))]
pub(crate) async fn get_run_stats(
    caller: Caller,
    ApiQuery(RunStatsQuery { since, until, workflow }): ApiQuery<RunStatsQuery>,
) -> Result<Json<RunStatsView>, ApiError> {
    let engine = &caller.runtime.engine;
    let until = match until {
        Some(text) => parse_query_time("until", &text)?.0,
        // The current millisecond is part of the period.
        None => engine.clock().now().0.saturating_add(1),
    };
    let since = match since {
        Some(text) => parse_query_time("since", &text)?.0,
        None => {
            let today = until.saturating_sub(1).div_euclid(DAY_MS);
            today.saturating_sub(DEFAULT_DAYS - 1).saturating_mul(DAY_MS)
        }
    };
    if since >= until {
        let (since, until) = (Timestamp(since), Timestamp(until));
        let detail = format!("`since` ({since}) must be before `until` ({until})");
        return Err(ApiError::bad_request("bad_query", detail));
    }
    if until.saturating_sub(since) > MAX_DAYS * DAY_MS {
        let detail =
            format!("the period from `since` to `until` has more than {MAX_DAYS} days; shorten it");
        return Err(ApiError::bad_request("bad_query", detail));
    }
    let tenant = engine.tenant().clone();
    let filter = RunStatsFilter { tenant, since, until, workflow, limit: MAX_STATS_RUNS };
    let stats = engine.store().read_run_stats(&filter).await?;
    Ok(Json(RunStatsView::new(since, until, stats)))
}
