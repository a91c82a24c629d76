//! How long, how many, how rough.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// What the chaos is made of.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChaosTrialArgs {
    /// Where runs are kept: `sqlite`; `postgres` for a server of its own, which is restarted now and then; or the
    /// address of one that is there for this.
    #[arg(long, default_value = "sqlite")]
    pub(crate) store: String,
    /// How many workers at once.
    #[arg(long, default_value_t = 4)]
    pub(crate) workers: usize,
    /// How many runs, children not counted.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) runs: usize,
    /// How many workers are killed or stopped.
    #[arg(long, default_value_t = 200)]
    pub(crate) kills: usize,
    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How long leases last, in milliseconds.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) lease: u64,
    /// About how long it takes from one kill to the next, in milliseconds.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) pause: u64,
    /// How long everything may take to come to its end after the last kill, in seconds.
    #[arg(long, default_value_t = 600)]
    pub(crate) patience: u64,
    /// The program; the one beside this one where none is named.
    #[arg(long)]
    pub(crate) program: Option<PathBuf>,
}

impl ChaosTrialArgs {
    /// How long leases last.
    pub(super) fn lease_duration(&self) -> Duration {
        Duration::from_millis(self.lease)
    }
}
