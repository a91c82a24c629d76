//! How time and memory grow with the input: doubled sizes, a line fitted through the logarithms.
//!
//! Time is what the processor spent, so that a busy machine matters little. Memory is the peak of
//! what was allocated during one run, as the caller's allocator counts it.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The steepest growth that passes: linear, and room for caches, logarithms and noise.
const MAX_EXPONENT: f64 = 1.2;

/// Below this, a time says more about the machine than about the work.
const MIN_TIME: Duration = Duration::from_millis(5);

/// Below this, memory is what any input needs.
const MIN_MEMORY: usize = 256 << 10;

/// How often each size is run, at most; the quickest run counts.
const MAX_RUNS: usize = 3;

/// A size that took this long in all is not run again.
const MAX_SAMPLE_TIME: Duration = Duration::from_millis(300);

/// How often a family that seems to break the law is measured again. Another program can only add
/// to a measurement, so the least of several is nearest to the truth.
const MAX_REMEASUREMENTS: usize = 6;

/// What spends a budget costs as much as this many times what the door names for it, on a slow machine.
const SLOW_MACHINE: u32 = 4;

/// One family at a time: they share the counter of memory.
static MEASURE_LOCK: Mutex<()> = Mutex::new(());

/// What one size took.
#[derive(Debug, Clone, Copy)]
pub struct GrowthSample {
    /// The size that the input was made for.
    pub size: usize,
    /// Processor time, the least of several runs.
    pub time: Duration,
    /// Bytes allocated at the peak, beyond those before the run.
    pub memory: usize,
}

/// A family of inputs, measured.
#[derive(Debug, Clone)]
pub struct GrowthCurve {
    /// The door and the family.
    pub name: String,
    /// A sample for each size, smallest first.
    pub samples: Vec<GrowthSample>,
}

/// What a family is measured by: a clock of the processor, and the counter of a test's own
/// allocator.
pub struct ResourceMeter {
    /// What the processor has spent so far: [`thread_time`] or [`process_time`].
    pub time: fn() -> Duration,
    /// Forgets the peak: from now on it is what is allocated now.
    pub reset: fn(),
    /// Bytes allocated now.
    pub current: fn() -> usize,
    /// Bytes allocated at the peak since the last reset.
    pub peak: fn() -> usize,
}

/// A door that takes something from outside, and the families of hostile inputs measured at it.
///
/// A door is registered in `xtask/src/growth_targets.rs` under the same name.
pub struct GrowthTarget {
    name: &'static str,
    meter: &'static ResourceMeter,
    budget: GrowthSample,
    curves: Vec<GrowthCurve>,
}

impl GrowthTarget {
    /// A door without families.
    #[must_use]
    pub fn new(name: &'static str, meter: &'static ResourceMeter) -> Self {
        let budget = GrowthSample { size: 0, time: MIN_TIME, memory: MIN_MEMORY };
        Self { name, meter, budget, curves: Vec::new() }
    }

    /// Work at this door ends with a budget. An input that spends it costs up to this much, however
    /// small it is, so only what costs more is judged by its growth.
    #[must_use]
    pub fn with_budget(mut self, time: Duration, memory: usize) -> Self {
        self.budget = GrowthSample { size: 0, time, memory };
        self
    }

    /// Measures a family at `base`, and at twice, four and eight times that size.
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
            // What another thread frees meanwhile hides a part of the peak.
            memory = memory.max((meter.peak)().saturating_sub(before));
            spent += took;
            if spent > MAX_SAMPLE_TIME {
                break;
            }
        }
        GrowthSample { size, time, memory }
    }

    /// Prints every family, and fails where one grows faster than the law allows.
    ///
    /// # Panics
    /// Where a family grows by more than the power 1.2 of its size.
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
    /// Keeps the lesser times of two measurements of the same family, and the memory of the one in
    /// which it grew less: other threads may hide a part of a peak as well as add to it.
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

    /// Whether time or memory grows too steeply, and past what the door's budget explains: a budget that is
    /// spent makes a step, and nothing grows behind it.
    fn exceeds(&self, budget: &GrowthSample) -> bool {
        let over = |exponent: Option<f64>| exponent.is_some_and(|power| power > MAX_EXPONENT);
        let [.., before, last] = self.samples.as_slice() else { panic!("a family has samples") };
        let is_spent = last.time < budget.time * SLOW_MACHINE
            && last.time.as_secs_f64() < before.time.as_secs_f64() * 2_f64.powf(MAX_EXPONENT);
        (last.time > budget.time && !is_spent && over(self.time_exponent()))
            || (last.memory > budget.memory && over(self.memory_exponent()))
    }

    /// The power of the size by which time grows; `Empty` where all of it is too quick to tell.
    #[must_use]
    pub fn time_exponent(&self) -> Option<f64> {
        let time = |sample: &GrowthSample| sample.time.as_secs_f64();
        self.fit_exponent(time, MIN_TIME.as_secs_f64())
    }

    /// The power of the size by which the peak of memory grows; `Empty` where it is too little to
    /// tell.
    #[must_use]
    pub fn memory_exponent(&self) -> Option<f64> {
        self.fit_exponent(|sample| sample.memory as f64, MIN_MEMORY as f64)
    }

    /// The slope of a straight line through the logarithms. What lies below the floor is put on it:
    /// noise must not look like growth.
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

/// One line: the name, each sample, and both exponents.
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

/// What the processor spent on this thread so far; the clock's time where the system does not say.
#[must_use]
pub fn thread_time() -> Duration {
    #[cfg(unix)]
    return processor_time(rustix::time::ClockId::ThreadCPUTime);
    #[cfg(not(unix))]
    elapsed()
}

/// What the processor spent on all threads of this process so far, also on those that ended; the
/// clock's time where the system does not say.
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
