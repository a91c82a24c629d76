//! The command-line arguments of the chaos trial.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// The command-line arguments of the chaos trial.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChaosTrialArgs {
    /// The store: `sqlite`, `postgres` for a private server that is restarted now and then, or the
    /// URL of an existing server.
    #[arg(long, default_value = "sqlite")]
    pub(crate) store: String,
    /// The number of concurrent workers.
    #[arg(long, default_value_t = 4)]
    pub(crate) workers: usize,
    /// The number of runs, not counting child runs.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) runs: usize,
    /// The number of workers to kill or suspend.
    #[arg(long, default_value_t = 200)]
    pub(crate) kills: usize,
    /// The seed of the random number generator.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The lease duration in milliseconds.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) lease: u64,
    /// The average time between two faults in milliseconds.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) pause: u64,
    /// How long the runs may take to finish after the last fault, in seconds.
    #[arg(long, default_value_t = 600)]
    pub(crate) patience: u64,
    /// The program to test; by default the one next to this program.
    #[arg(long)]
    pub(crate) program: Option<PathBuf>,
}

impl ChaosTrialArgs {
    /// Returns the lease duration.
    pub(super) fn lease_duration(&self) -> Duration {
        Duration::from_millis(self.lease)
    }
}
