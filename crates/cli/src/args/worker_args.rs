//! Commands about workers, as clap sees them.

use clap::Parser;
use countersign_protocol::parse_duration;

use super::{AllowArgs, StoreArgs};

#[derive(Debug, Parser)]
#[command(
    after_help = "Stop it with Ctrl-C or SIGTERM: it takes no new runs, lets steps in progress finish,
and releases the runs it holds. A second signal stops it at once.

Examples:
  countersign worker
  countersign worker --capacity 64 --lease 10s
  countersign worker --until-idle --json"
)]
pub(crate) struct WorkerArgs {
    /// Maximum number of runs to work on at once
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) capacity: u16,
    /// Take no more runs of a tenant while all workers together hold this many of it; no limit if omitted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_tenant: Option<u32>,
    /// Time that a lease on a run lasts without renewal; other workers continue a dead worker's runs after that
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_interval)]
    pub(crate) lease: i64,
    /// Time that steps in progress may take after a stop signal
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = parse_interval)]
    pub(crate) grace: i64,
    /// Interval between checks for due runs if no notification arrives
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_interval)]
    pub(crate) poll: i64,
    /// Worker name, unique among active workers; if omitted, made of machine, process and six letters
    #[arg(long, value_name = "NAME", value_parser = parse_worker_name)]
    pub(crate) name: Option<String>,
    /// Take the runs that are due now, work on them until they end or wait, and exit
    #[arg(long, conflicts_with = "until_idle")]
    pub(crate) once: bool,
    /// Exit when no more runs are due
    #[arg(long)]
    pub(crate) until_idle: bool,
    /// Do not read or write memory; the logs of runs are still kept
    #[arg(long)]
    pub(crate) no_memory: bool,
    #[command(flatten)]
    pub(crate) allow: AllowArgs,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

#[derive(Debug, Parser)]
pub(crate) struct WorkersArgs {
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
}

/// Shortest interval that is accepted, in milliseconds.
const MIN_INTERVAL_MS: i64 = 100;

fn parse_interval(text: &str) -> Result<i64, String> {
    let millis = parse_duration(text).map(|duration| duration.millis);
    millis
        .filter(|millis| *millis >= MIN_INTERVAL_MS)
        .ok_or_else(|| "expected a duration of at least 100ms, such as `30s`".to_owned())
}

/// Parses a worker name, which is also the name of the file that announces the worker to others.
fn parse_worker_name(text: &str) -> Result<String, String> {
    let plain = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.');
    let good = !text.starts_with('.') && (1..=64).contains(&text.len()) && text.chars().all(plain);
    if good {
        Ok(text.to_owned())
    } else {
        Err("expected up to 64 letters, digits, `-`, `_` and `.`".to_owned())
    }
}
