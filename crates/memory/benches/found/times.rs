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

    /// p50, p95 and p99 by the clock, then the mean on the processor, in milliseconds: the system counts
    /// that in steps of a few, so that only the mean says something.
    pub(crate) fn told(&self) -> String {
        let mut list: Vec<Duration> = self.0.iter().map(|took| took.clock).collect();
        list.sort_unstable();
        let at = |percent: usize| {
            let index = (list.len() * percent).div_ceil(100).max(1) - 1;
            list.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
        };
        let processor: Duration = self.0.iter().map(|took| took.processor).sum();
        let mean = processor.as_secs_f64() * 1_000.0 / self.0.len().max(1) as f64;
        format!("{:>7.2} {:>7.2} {:>7.2} {mean:>11.2}", at(50), at(95), at(99))
    }
}
