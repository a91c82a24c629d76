//! Times, told as the ones that half, nineteen of twenty and ninety-nine of a hundred stay below.

use std::fs;
use std::time::Duration;

/// What all threads of this process had of the processors so far, where the system tells: on a machine
/// that others are busy on too, it says more than the clock. It counts in steps of a few milliseconds, and
/// so is good for many packets together only.
pub(crate) fn processor() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let told = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        told.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}

#[derive(Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    /// p50, p95 and p99, in milliseconds.
    pub(crate) fn told(&self) -> String {
        let mut list = self.0.clone();
        list.sort_unstable();
        let at = |percent: usize| {
            let index = (list.len() * percent).div_ceil(100).max(1) - 1;
            list.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
        };
        format!("{:>7.2} {:>7.2} {:>7.2}", at(50), at(95), at(99))
    }
}
