//! Commands about workers, as clap sees them.

use clap::Parser;
use countersign_core::protocol::parse_duration;

use super::{AllowArgs, StoreArgs};

#[derive(Debug, Parser)]
#[command(
    after_help = "Stop it with Ctrl-C or SIGTERM: it takes nothing new, lets steps that are under way end,
and hands back what it holds. A second time, and it leaves at once.

Examples:
  countersign worker
  countersign worker --capacity 64 --lease 10s
  countersign worker --until-idle --json"
)]
pub(crate) struct WorkerArgs {
    /// How many runs it works on at once
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) capacity: u16,
    /// Take no more while all workers together hold this many of one tenant
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_tenant: Option<u32>,
    /// How long what it holds stays its own without being renewed; a dead worker's runs go on after that
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_interval)]
    pub(crate) lease: i64,
    /// How long steps under way may take once it is told to stop
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = parse_interval)]
    pub(crate) grace: i64,
    /// How often it looks for what is due where nothing hints at it
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_interval)]
    pub(crate) poll: i64,
    /// What it is called; no two may have the same name at once
    #[arg(long, value_name = "NAME", value_parser = parse_worker_name)]
    pub(crate) name: Option<String>,
    /// Take what is due now, work on that until it rests, and end
    #[arg(long, conflicts_with = "until_idle")]
    pub(crate) once: bool,
    /// End when nothing is due any more
    #[arg(long)]
    pub(crate) until_idle: bool,
    /// Neither remember nor be reminded; the logs of runs are kept all the same
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

/// The shortest time that makes sense, in milliseconds.
const MIN_INTERVAL_MS: i64 = 100;

fn parse_interval(text: &str) -> Result<i64, String> {
    let millis = parse_duration(text).map(|duration| duration.millis);
    millis
        .filter(|millis| *millis >= MIN_INTERVAL_MS)
        .ok_or_else(|| "expected a length of time such as `30s`, of 100ms or more".to_owned())
}

/// Others see it by a file of that name.
fn parse_worker_name(text: &str) -> Result<String, String> {
    let plain = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.');
    let good = !text.starts_with('.') && (1..=64).contains(&text.len()) && text.chars().all(plain);
    if good {
        Ok(text.to_owned())
    } else {
        Err("expected up to 64 letters, digits, `-`, `_` and `.`".to_owned())
    }
}
