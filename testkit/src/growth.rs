//! Measures how time and memory grow with the input size: the size is doubled repeatedly and a line
//! is fitted through the logarithms.
//!
//! Time is CPU time, so load on the machine has little influence. Memory is the peak allocation
//! during one run, as reported by the caller's allocator.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The highest exponent that passes: linear growth, with room for caches, logarithms and noise.
const MAX_EXPONENT: f64 = 1.2;

/// Times below this value depend more on the machine than on the work.
const MIN_TIME: Duration = Duration::from_millis(5);

/// Memory below this value is what any input needs.
const MIN_MEMORY: usize = 256 << 10;

/// The maximum number of runs per size; the fastest run counts.
const MAX_RUNS: usize = 3;

/// A size is not run again after its runs have taken this long in total.
const MAX_SAMPLE_TIME: Duration = Duration::from_millis(300);

/// How many times a family that seems to exceed the limit is measured again. Other programs can
/// only add to a measurement, so the minimum of several is closest to the true value.
const MAX_REMEASUREMENTS: usize = 15;

/// On a slow machine, exhausting a budget may take this many times the time that the target
/// declares.
const SLOW_MACHINE: u32 = 4;

/// Serializes the measurements, because all families share the memory counter.
static MEASURE_LOCK: Mutex<()> = Mutex::new(());

/// The measurement for one input size.
#[derive(Debug, Clone, Copy)]
pub struct GrowthSample {
    /// The size for which the input was generated.
    pub size: usize,
    /// CPU time, the minimum of several runs.
    pub time: Duration,
    /// Peak allocation in bytes, minus what was allocated before the run.
    pub memory: usize,
}

/// The measurements of one family of inputs.
#[derive(Debug, Clone)]
pub struct GrowthCurve {
    /// The names of the target and the family.
    pub name: String,
    /// One sample per size, smallest first.
    pub samples: Vec<GrowthSample>,
}

/// The functions that measure a family: a CPU clock and the counters of the test's own allocator.
pub struct ResourceMeter {
    /// Returns the CPU time spent so far: [`thread_time`] or [`process_time`].
    pub time: fn() -> Duration,
    /// Resets the peak to the current allocation.
    pub reset: fn(),
    /// Returns the bytes allocated now.
    pub current: fn() -> usize,
    /// Returns the peak allocation in bytes since the last reset.
    pub peak: fn() -> usize,
}

/// An entry point that accepts external input, and the families of hostile inputs measured on it.
///
/// `xtask/src/growth_targets.rs` registers each target under the same name.
pub struct GrowthTarget {
    name: &'static str,
    meter: &'static ResourceMeter,
    budget: GrowthSample,
    curves: Vec<GrowthCurve>,
}

impl GrowthTarget {
    /// Creates a target without families.
    #[must_use]
    pub fn new(name: &'static str, meter: &'static ResourceMeter) -> Self {
        let budget = GrowthSample { size: 0, time: MIN_TIME, memory: MIN_MEMORY };
        Self { name, meter, budget, curves: Vec::new() }
    }

    /// Declares that a budget limits the work of this target. Any input, however small, may cost up
    /// to this budget, so growth is judged only above it.
    #[must_use]
    pub fn with_budget(mut self, time: Duration, memory: usize) -> Self {
        self.budget = GrowthSample { size: 0, time, memory };
        self
    }

    /// Measures a family at size `base`, and at two, four and eight times that size.
    pub fn measure_family<I>(
        &mut self,
        name: &str,
        base: usize,
        make: impl Fn(usize) -> I,
        run: impl Fn(&I),
    ) -> &mut Self {
        let _alone = MEASURE_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let inputs = [1, 2, 4, 8].map(|times| (base * times, make(base * times)));
        let measure =
            || inputs.each_ref().map(|(size, input)| self.measure_sample(*size, || run(input)));
        let mut growth =
            GrowthCurve { name: format!("{}: {name}", self.name), samples: measure().to_vec() };
        for _ in 0..MAX_REMEASUREMENTS {
            if growth.exceeds(&self.budget) {
                growth.keep_least(&measure());
            }
        }
        self.curves.push(growth);
        self
    }

    fn measure_sample(&self, size: usize, run: impl Fn()) -> GrowthSample {
        let meter = self.meter;
        let (mut time, mut memory, mut spent) = (Duration::MAX, 0, Duration::ZERO);
        for _ in 0..MAX_RUNS {
            (meter.reset)();
            let (before, started) = ((meter.current)(), (meter.time)());
            run();
            let took = (meter.time)().saturating_sub(started);
            time = time.min(took);
            // Memory that another thread frees in the meantime hides a part of the peak.
            memory = memory.max((meter.peak)().saturating_sub(before));
            spent += took;
            if spent > MAX_SAMPLE_TIME {
                break;
            }
        }
        GrowthSample { size, time, memory }
    }

    /// Prints every family and asserts that it grows within the limit.
    ///
    /// # Panics
    /// Panics if a family grows faster than the power 1.2 of its size, or if no family was
    /// measured.
    #[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
    pub fn assert_linear(&self) {
        assert!(!self.curves.is_empty(), "no family was measured at {}", self.name);
        self.curves.iter().for_each(|growth| println!("{growth}"));
        let steep = self.curves.iter().filter(|growth| growth.exceeds(&self.budget));
        let steep: Vec<String> = steep.map(GrowthCurve::to_string).collect();
        assert!(steep.is_empty(), "grow faster than size^{MAX_EXPONENT}:\n{}", steep.join("\n"));
    }
}

impl GrowthCurve {
    /// Keeps, of two measurements of the same family, the shorter times and the memory of the one
    /// that grew less: other threads can hide a part of a peak as well as add to it.
    fn keep_least(&mut self, others: &[GrowthSample]) {
        let other = Self { name: String::new(), samples: others.to_vec() };
        let is_flatter = other.memory_exponent() < self.memory_exponent();
        for (sample, other) in self.samples.iter_mut().zip(others) {
            sample.time = sample.time.min(other.time);
            if is_flatter {
                sample.memory = other.memory;
            }
        }
    }

    /// Returns whether time or memory grows too fast and exceeds the target's budget. An exhausted
    /// budget causes a single step, after which the cost does not grow.
    fn exceeds(&self, budget: &GrowthSample) -> bool {
        let over = |exponent: Option<f64>| exponent.is_some_and(|power| power > MAX_EXPONENT);
        let [.., before, last] = self.samples.as_slice() else {
            panic!("a family must have samples")
        };
        let is_spent = last.time < budget.time * SLOW_MACHINE
            && last.time.as_secs_f64() < before.time.as_secs_f64() * 2_f64.powf(MAX_EXPONENT);
        let is_slow = last.time > budget.time && !is_spent && !self.has_cache_step();
        (is_slow && over(self.time_exponent()))
            || (last.memory > budget.memory && over(self.memory_exponent()))
    }

    /// Returns whether at most one doubling of the size costs more than the limit allows, and not
    /// more than a square would. That is what leaving a cache of the processor looks like; work
    /// that grows too fast does so at every doubling.
    fn has_cache_step(&self) -> bool {
        let seconds = |sample: &GrowthSample| sample.time.max(MIN_TIME).as_secs_f64();
        let ratios = self.samples.windows(2).map(|pair| seconds(&pair[1]) / seconds(&pair[0]));
        let steep: Vec<f64> = ratios.filter(|ratio| *ratio > 2_f64.powf(MAX_EXPONENT)).collect();
        steep.len() <= 1 && steep.iter().all(|ratio| *ratio < 4.0)
    }

    /// Returns the exponent by which time grows with the size; `None` if every sample is too short
    /// to tell.
    #[must_use]
    pub fn time_exponent(&self) -> Option<f64> {
        let time = |sample: &GrowthSample| sample.time.as_secs_f64();
        self.fit_exponent(time, MIN_TIME.as_secs_f64())
    }

    /// Returns the exponent by which peak memory grows with the size; `None` if every sample is too
    /// small to tell.
    #[must_use]
    pub fn memory_exponent(&self) -> Option<f64> {
        self.fit_exponent(|sample| sample.memory as f64, MIN_MEMORY as f64)
    }

    /// Returns the slope of a line fitted through the logarithms. Values below the floor are raised
    /// to it, so that noise does not look like growth.
    fn fit_exponent(&self, value: impl Fn(&GrowthSample) -> f64, floor: f64) -> Option<f64> {
        if self.samples.iter().all(|sample| value(sample) <= floor) {
            return None;
        }
        let points: Vec<(f64, f64)> = self
            .samples
            .iter()
            .map(|sample| ((sample.size as f64).ln(), value(sample).max(floor).ln()))
            .collect();
        let count = points.len() as f64;
        let mean = |pick: fn(&(f64, f64)) -> f64| points.iter().map(pick).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let covariance: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
        let variance: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        Some(covariance / variance)
    }
}

/// Prints one line: the name, each sample, and both exponents.
impl fmt::Display for GrowthCurve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<44}", self.name)?;
        for sample in &self.samples {
            let time = sample.time.as_secs_f64() * 1e3;
            write!(f, " {time:>8.1} ms {:>6.1} MiB", sample.memory as f64 / f64::from(1 << 20))?;
        }
        let power =
            |exponent: Option<f64>| exponent.map_or("  –".to_owned(), |e| format!("{e:.2}"));
        write!(f, "  time^{} memory^{}", power(self.time_exponent()), power(self.memory_exponent()))
    }
}

/// Returns the CPU time of this thread so far; wall-clock time if the system does not report it.
#[must_use]
pub fn thread_time() -> Duration {
    #[cfg(unix)]
    return processor_time(rustix::time::ClockId::ThreadCPUTime);
    #[cfg(not(unix))]
    elapsed()
}

/// Returns the CPU time of all threads of this process so far, including threads that ended;
/// wall-clock time if the system does not report it.
#[must_use]
pub fn process_time() -> Duration {
    #[cfg(unix)]
    return processor_time(rustix::time::ClockId::ProcessCPUTime);
    #[cfg(not(unix))]
    elapsed()
}

#[cfg(unix)]
fn processor_time(clock: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn elapsed() -> Duration {
    static STARTED: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    STARTED.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STILL: ResourceMeter =
        ResourceMeter { time: thread_time, reset: || (), current: || 0, peak: || 0 };

    fn growth(power: f64) -> GrowthCurve {
        let sample = |times: usize| {
            let size = 1_000 * times;
            let value = (size as f64).powf(power);
            GrowthSample {
                size,
                time: Duration::from_secs_f64(value / 1e5),
                memory: (value * 1e3) as usize,
            }
        };
        GrowthCurve { name: "made".to_owned(), samples: [1, 2, 4, 8].map(sample).to_vec() }
    }

    #[test]
    fn exponents_are_found() {
        for power in [1.0, 1.5, 2.0] {
            let growth = growth(power);
            assert!((growth.time_exponent().unwrap() - power).abs() < 0.01, "{growth}");
            assert!((growth.memory_exponent().unwrap() - power).abs() < 0.01, "{growth}");
        }
    }

    #[test]
    fn steep_growth_passes_only_within_the_budget_of_its_door() {
        let none = GrowthSample { size: 0, time: MIN_TIME, memory: MIN_MEMORY };
        let large = GrowthSample { size: 0, time: Duration::from_hours(1), memory: 1 << 40 };
        assert!(!growth(1.1).exceeds(&none));
        assert!(growth(1.3).exceeds(&none));
        assert!(!growth(1.3).exceeds(&large));
        assert!(growth(1.3).exceeds(&GrowthSample { time: MIN_TIME, ..large }));
        assert!(growth(1.3).exceeds(&GrowthSample { memory: MIN_MEMORY, ..large }));
    }

    #[test]
    fn a_budget_that_is_spent_may_take_longer_on_a_slow_machine_but_not_grow() {
        let budget = GrowthSample { size: 0, time: Duration::from_millis(400), memory: 1 << 40 };
        let timed = |millis: [u64; 4]| {
            let mut growth = growth(1.0);
            for (sample, millis) in growth.samples.iter_mut().zip(millis) {
                sample.time = Duration::from_millis(millis);
            }
            growth
        };
        assert!(!timed([27, 42, 527, 425]).exceeds(&budget));
        assert!(timed([27, 42, 170, 425]).exceeds(&budget), "it still grows");
        let none = GrowthSample { size: 0, time: MIN_TIME, memory: 1 << 40 };
        assert!(!timed([28, 59, 123, 357]).exceeds(&none), "one step, out of the caches");
        assert!(timed([28, 59, 160, 430]).exceeds(&none), "two steps are growth");
        assert!(timed([28, 59, 123, 600]).exceeds(&none), "no cache is as steep");
        assert!(timed([27, 42, 1_700, 1_800]).exceeds(&budget), "no budget is as large");
    }

    #[test]
    fn what_is_too_quick_has_no_exponent() {
        let mut door = GrowthTarget::new("nothing", &STILL);
        door.measure_family("nothing", 1, |size| size, |_| ());
        assert_eq!(door.curves[0].time_exponent(), None, "{}", door.curves[0]);
        assert_eq!(door.curves[0].memory_exponent(), None);
        door.assert_linear();
    }

    #[test]
    #[should_panic(expected = "grow faster than size^1.2")]
    fn a_square_is_found() {
        let mut door = GrowthTarget::new("square", &STILL);
        let work = |size: &usize| {
            let sum = (0..size * size).fold(0_usize, |sum, n| std::hint::black_box(sum ^ n));
            assert_ne!(std::hint::black_box(sum), usize::MAX);
        };
        door.measure_family("square", 500, |size| size, work).assert_linear();
    }
}
