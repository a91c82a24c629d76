//! The law of growth: at every door of contracts, time and memory grow linearly with hostile input.
//!
//! A family is a way to make a hostile input of any size. Each is run at four sizes, doubled from
//! one to the next, and a power of the size is fitted: at most 1.2 (`testkit/src/growth.rs`). A new
//! door gets a test here; `cargo xtask tidy` knows the list of doors (`xtask/src/growth_targets.rs`).
//! `cargo test -p countersign-contract --test growth -- --nocapture` prints the table.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[path = "growth/contract.rs"]
mod contract;
#[path = "growth/expression.rs"]
mod expression;
#[path = "growth/patch.rs"]
mod patch;
#[path = "growth/reply.rs"]
mod reply;
#[path = "growth/schemas.rs"]
mod schemas;
#[path = "growth/yaml.rs"]
mod yaml;

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
