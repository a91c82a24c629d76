//! What goes wrong, and how often.

use std::io;
use std::time::Duration;

use testkit::{Chance, Cluster};

use super::crew::Crew;
use super::ledger::Ledger;
use super::settings::Settings;

/// What was done so far.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    pub(super) kills: usize,
    pub(super) stops: usize,
    pub(super) reliefs: usize,
    pub(super) cuts: usize,
    pub(super) restarts: usize,
    /// Workers that were told to leave and did not end well.
    pub(super) bad_ends: usize,
}

/// From here on lots mean a restart.
const RESTART: usize = 40;

impl Trouble {
    /// Kills and stops together.
    pub(super) fn blows(&self) -> usize {
        self.kills + self.stops
    }

    /// Does something to somebody.
    pub(super) fn strike(
        &mut self,
        crew: &mut Crew<'_>,
        world: &World<'_>,
        settings: &Settings,
        chance: &mut Chance,
    ) -> io::Result<()> {
        crew.wake(false)?;
        let index = chance.below(crew.len());
        // However short it is, a server that is ours is restarted once.
        let overdue = self.restarts == 0 && 2 * self.blows() >= settings.kills;
        let lot = if overdue && world.cluster.is_some() { RESTART } else { chance.below(100) };
        match lot {
            // Long enough that its leases run out, and others have its runs when it wakes.
            0..25 => {
                let past = settings.term().mul_f64(1.2 + chance.below(100) as f64 / 100.0);
                self.stops += usize::from(crew.put_to_sleep(index, past)?);
            }
            25..32 => {
                self.reliefs += 1;
                self.bad_ends += usize::from(crew.relieve(index)? != Some(0));
            }
            32..40 if world.server.is_some() => {
                self.cuts += 1;
                world.ledger.cut_connections()?;
            }
            RESTART..46 => match world.cluster {
                Some(cluster) => {
                    self.restarts += 1;
                    let how = if chance.percent(50) { "fast" } else { "immediate" };
                    cluster.stop(how).and_then(|()| cluster.go_on()).map_err(io::Error::other)?;
                }
                None => {
                    self.kills += 1;
                    crew.kill(index)?;
                }
            },
            _ => {
                self.kills += 1;
                crew.kill(index)?;
            }
        }
        Ok(())
    }
}

/// What can be disturbed beside the workers.
pub(super) struct World<'w> {
    pub(super) ledger: &'w Ledger,
    pub(super) server: Option<&'w str>,
    /// A server that is ours to stop.
    pub(super) cluster: Option<&'w Cluster>,
}

/// How long until the next blow.
pub(super) fn pause(settings: &Settings, chance: &mut Chance) -> Duration {
    Duration::from_millis(settings.pause / 4 + chance.below(settings.pause as usize * 3 / 2) as u64)
}
