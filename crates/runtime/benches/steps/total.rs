//! What was measured of one contender.

use std::time::Duration;

#[derive(Default)]
pub(crate) struct Total {
    pub(crate) steps: u64,
    pub(crate) time: Duration,
    pub(crate) waits: Vec<Duration>,
}

impl Total {
    pub(crate) fn rate(&self) -> f64 {
        self.steps as f64 / self.time.as_secs_f64()
    }

    fn wait(&mut self, percent: usize) -> f64 {
        self.waits.sort_unstable();
        let index = (self.waits.len() * percent / 100).min(self.waits.len().saturating_sub(1));
        self.waits.get(index).map_or(0.0, |wait| wait.as_secs_f64() * 1e3)
    }

    pub(crate) fn show(&mut self, name: &str, base: f64) {
        let (rate, half, most) = (self.rate(), self.wait(50), self.wait(99));
        println!("{name:<34}{rate:>9.0}{:>9.2}{half:>10.2}{most:>10.2}", rate / base);
    }
}
