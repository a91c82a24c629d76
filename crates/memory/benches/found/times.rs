//! Times, told as the ones that half, nineteen of twenty and ninety-nine of a hundred stay below.

use std::fs;
use std::time::{Duration, Instant};

/// How long something took: by the clock, and on the processor. On a machine that others are busy on too
/// the second tells what it would take alone.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Took {
    pub(crate) clock: Duration,
    pub(crate) processor: Duration,
}

/// Since when.
pub(crate) struct Begun {
    clock: Instant,
    processor: Duration,
}

impl Begun {
    pub(crate) fn now() -> Self {
        let processor = processor();
        Self { clock: Instant::now(), processor }
    }

    pub(crate) fn took(&self) -> Took {
        let clock = self.clock.elapsed();
        Took { clock, processor: processor().saturating_sub(self.processor) }
    }
}

/// What all threads of this process had of the processors, where the system tells.
fn processor() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let told = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        told.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}

#[derive(Debug, Default)]
pub(crate) struct Times(Vec<Took>);

impl Times {
    pub(crate) fn add(&mut self, took: Took) {
        self.0.push(took);
    }

    /// p50, p95, p99 by the clock, then p50 and p95 on the processor, in milliseconds.
    pub(crate) fn told(&self) -> String {
        let at = |of: fn(&Took) -> Duration, percent: usize| {
            let mut list: Vec<Duration> = self.0.iter().map(of).collect();
            list.sort_unstable();
            let index = (list.len() * percent).div_ceil(100).max(1) - 1;
            list.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
        };
        let clock = [50, 95, 99].map(|percent| at(|took| took.clock, percent));
        let processor = [50, 95].map(|percent| at(|took| took.processor, percent));
        format!(
            "{:>7.2} {:>7.2} {:>7.2}   {:>7.2} {:>7.2}",
            clock[0], clock[1], clock[2], processor[0], processor[1]
        )
    }
}
