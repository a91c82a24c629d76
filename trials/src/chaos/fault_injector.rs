//! Injects faults into workers and the server, and counts them.

use std::io;
use std::time::Duration;

use testkit::{PostgresCluster, SeededRng};

use super::chaos_args::ChaosTrialArgs;
use super::store_tables::StoreTables;
use super::worker_pool::WorkerPool;

/// The number of injected faults by kind.
#[derive(Debug, Default)]
pub(super) struct FaultInjector {
    pub(super) kills: usize,
    pub(super) suspensions: usize,
    pub(super) replacements: usize,
    pub(super) connection_cuts: usize,
    pub(super) restarts: usize,
    /// The number of workers that were asked to stop and exited with an error.
    pub(super) failed_exits: usize,
}

/// Draws from this value on mean a server restart.
const RESTART_LOT: usize = 40;

impl FaultInjector {
    /// Returns the number of kills and suspensions.
    pub(super) fn count_injected(&self) -> usize {
        self.kills + self.suspensions
    }

    /// Injects one random fault.
    pub(super) fn inject_fault(
        &mut self,
        crew: &mut WorkerPool<'_>,
        world: &FaultTargets<'_>,
        settings: &ChaosTrialArgs,
        chance: &mut SeededRng,
    ) -> io::Result<()> {
        crew.resume_workers(false)?;
        let index = chance.next_below(crew.len());
        // Even in a short trial, a private server is restarted once.
        let overdue = self.restarts == 0 && 2 * self.count_injected() >= settings.kills;
        let lot =
            if overdue && world.cluster.is_some() { RESTART_LOT } else { chance.next_below(100) };
        match lot {
            // Long enough for its leases to expire, so that other workers have its runs when it
            // resumes.
            0..25 => {
                let past =
                    settings.lease_duration().mul_f64(1.2 + chance.next_below(100) as f64 / 100.0);
                self.suspensions += usize::from(crew.suspend_worker(index, past)?);
            }
            25..32 => {
                self.replacements += 1;
                self.failed_exits += usize::from(crew.replace_worker(index)? != Some(0));
            }
            32..40 if world.server.is_some() => {
                self.connection_cuts += 1;
                world.tables.cut_connections()?;
            }
            RESTART_LOT..46 => match world.cluster {
                Some(cluster) => {
                    self.restarts += 1;
                    let how = if chance.roll_percent(50) { "fast" } else { "immediate" };
                    cluster
                        .stop(how)
                        .and_then(|()| cluster.start_again())
                        .map_err(io::Error::other)?;
                }
                None => {
                    self.kills += 1;
                    crew.kill_worker(index)?;
                }
            },
            _ => {
                self.kills += 1;
                crew.kill_worker(index)?;
            }
        }
        Ok(())
    }
}

/// The targets of faults other than the workers.
pub(super) struct FaultTargets<'w> {
    pub(super) tables: &'w StoreTables,
    pub(super) server: Option<&'w str>,
    /// A private server that the trial may stop.
    pub(super) cluster: Option<&'w PostgresCluster>,
}

/// Returns a random pause until the next fault.
pub(super) fn random_pause(settings: &ChaosTrialArgs, chance: &mut SeededRng) -> Duration {
    Duration::from_millis(
        settings.pause / 4 + chance.next_below(settings.pause as usize * 3 / 2) as u64,
    )
}
