//! A budget for one piece of work, with cancellation.
//!
//! Work is counted in steps, because this crate has no clock. A step takes about as long as copying
//! one small JSON value.

use std::cell::Cell;

use countersign_contract::limits::{MAX_COMPARISON_STEPS, MAX_SAMPLE_BYTES};
use serde_json::Value;

/// The number of steps that a piece of work may still take. The work spends steps and stops when
/// none are left.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use countersign_schema_tools::WorkBudget;
///
/// let given_up = AtomicBool::new(false);
/// let is_cancelled = || given_up.load(Ordering::Relaxed);
/// let budget = WorkBudget::new(1_000, &is_cancelled);
/// assert!(budget.spend(999));
/// given_up.store(true, Ordering::Relaxed);
/// assert!(!budget.spend(1));
/// ```
pub struct WorkBudget<'c> {
    steps_left: Cell<u64>,
    is_cancelled: &'c dyn Fn() -> bool,
    cancelled: Cell<bool>,
}

impl std::fmt::Debug for WorkBudget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkBudget").field("left", &self.steps_left.get()).finish_non_exhaustive()
    }
}

fn never_cancelled() -> bool {
    false
}

impl Default for WorkBudget<'static> {
    /// Creates the budget of one comparison, [`MAX_COMPARISON_STEPS`], without cancellation.
    fn default() -> Self {
        Self::new(MAX_COMPARISON_STEPS, &(never_cancelled as fn() -> bool))
    }
}

impl<'c> WorkBudget<'c> {
    /// Creates a budget of `steps`. Every call of [`WorkBudget::spend`] calls `is_cancelled`; once
    /// it returns true, no steps are left.
    pub fn new(steps: u64, is_cancelled: &'c dyn Fn() -> bool) -> Self {
        Self { steps_left: Cell::new(steps), is_cancelled, cancelled: Cell::new(false) }
    }

    /// Spends steps; returns false if fewer were left or the work is cancelled.
    pub fn spend(&self, steps: u64) -> bool {
        if (self.is_cancelled)() {
            self.cancelled.set(true);
            self.steps_left.set(0);
            return false;
        }
        let left = self.steps_left.get();
        self.steps_left.set(left.saturating_sub(steps));
        left >= steps && left > 0
    }

    /// Returns the number of steps that are left.
    #[must_use]
    pub fn remaining_steps(&self) -> u64 {
        self.steps_left.get()
    }

    /// Returns whether no steps are left.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.steps_left.get() == 0
    }

    /// Returns the reason why the work stopped, for messages.
    #[must_use]
    pub fn stop_reason(&self) -> &'static str {
        if self.cancelled.get() {
            "the comparison was cancelled"
        } else {
            "the comparison exceeds its step limit"
        }
    }
}

/// The budget of one generated value: the steps of a shared budget, and its own bytes.
#[derive(Debug)]
pub(super) struct SampleBudget<'b> {
    budget: &'b WorkBudget<'b>,
    bytes_left: Cell<usize>,
}

impl<'b> SampleBudget<'b> {
    pub(super) fn new(budget: &'b WorkBudget<'b>) -> Self {
        Self { budget, bytes_left: Cell::new(MAX_SAMPLE_BYTES) }
    }

    /// Spends steps; returns false if too few are left.
    pub(super) fn spend(&self, steps: usize) -> bool {
        self.budget.spend(steps as u64)
    }

    /// Spends bytes, and one step plus one per 16 bytes; returns false if too few are left.
    pub(super) fn spend_bytes(&self, bytes: usize) -> bool {
        let left = self.bytes_left.get();
        self.bytes_left.set(left.saturating_sub(bytes));
        left >= bytes && self.spend(1 + bytes / 16)
    }

    /// Returns the number of bytes that are left.
    pub(super) fn remaining_bytes(&self) -> usize {
        self.bytes_left.get()
    }
}

/// Counts the JSON values that a value consists of, including itself.
pub(super) fn count_values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count_values).sum::<usize>(),
        _ => 1,
    }
}
