//! Times, told as the ones that half, nineteen of twenty and ninety-nine of a hundred stay below.

use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// p50, p95, p99 and the longest, in milliseconds.
    pub(crate) fn told(&mut self) -> String {
        self.0.sort_unstable();
        let at = |percent: usize| {
            let index = (self.0.len() * percent).div_ceil(100).max(1) - 1;
            self.0.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
        };
        format!("{:>8.2} {:>8.2} {:>8.2} {:>8.2}", at(50), at(95), at(99), at(100))
    }
}
