//! What goes wrong, and how often.

use std::io;
use std::time::Duration;

use testkit::Chance;

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
    /// Workers that were told to leave and did not end well.
    pub(super) bad_ends: usize,
}

impl Trouble {
    /// Kills and stops together.
    pub(super) fn blows(&self) -> usize {
        self.kills + self.stops
    }

    /// Does something to somebody.
    pub(super) fn strike(
        &mut self,
        crew: &mut Crew<'_>,
        ledger: &Ledger,
        settings: &Settings,
        chance: &mut Chance,
    ) -> io::Result<()> {
        crew.wake(false)?;
        let index = chance.below(crew.len());
        match chance.below(100) {
            // Long enough that its leases run out, and others have its runs when it wakes.
            0..25 => {
                let past = settings.term().mul_f64(1.2 + chance.below(100) as f64 / 100.0);
                self.stops += usize::from(crew.put_to_sleep(index, past)?);
            }
            25..32 => {
                self.reliefs += 1;
                self.bad_ends += usize::from(crew.relieve(index)? != Some(0));
            }
            32..40 if settings.store != "sqlite" => {
                self.cuts += 1;
                ledger.cut_connections()?;
            }
            _ => {
                self.kills += 1;
                crew.kill(index)?;
            }
        }
        Ok(())
    }
}

/// How long until the next blow.
pub(super) fn pause(settings: &Settings, chance: &mut Chance) -> Duration {
    Duration::from_millis(settings.pause / 4 + chance.below(settings.pause as usize * 3 / 2) as u64)
}
