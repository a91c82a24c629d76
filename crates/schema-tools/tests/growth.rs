//! The law of growth: time and memory to compare and export contracts grow linearly with hostile
//! schemas. See `crates/contract/tests/growth.rs`.

#[path = "../../contract/tests/growth/schemas.rs"]
mod schemas;
#[path = "growth/versions.rs"]
mod versions;

use std::time::Duration;

use peak_alloc::PeakAlloc;
use testkit::{GrowthTarget, ResourceMeter, thread_time};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const METER: ResourceMeter = ResourceMeter {
    time: thread_time,
    reset: || ALLOCATOR.reset_peak_usage(),
    current: || ALLOCATOR.current_usage(),
    peak: || ALLOCATOR.peak_usage(),
};

fn door(name: &'static str) -> GrowthTarget {
    GrowthTarget::new(name, &METER)
}

/// A door whose work ends with a budget of steps or bytes: what that costs in a debug build.
fn budgeted_door(name: &'static str) -> GrowthTarget {
    door(name).with_budget(Duration::from_millis(400), 32 << 20)
}
