//! How much one piece of work may cost, and whether anybody still waits for it.
//!
//! There is no clock here: work is counted in steps. A step is about the time it takes to copy one
//! small JSON value.

use std::cell::Cell;

use serde_json::Value;

use crate::limits::{MAX_COMPARISON_STEPS, MAX_SAMPLE_BYTES};

/// The steps that are left. Whoever works spends them, and stops when there are none.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use countersign_core::contract::WorkBudget;
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
    /// The budget of one comparison, for somebody who waits to the end.
    fn default() -> Self {
        Self::new(MAX_COMPARISON_STEPS, &(never_cancelled as fn() -> bool))
    }
}

impl<'c> WorkBudget<'c> {
    /// A budget of so many steps. `is_cancelled` is asked at every step; once it says yes, nothing
    /// is left.
    pub fn new(steps: u64, is_cancelled: &'c dyn Fn() -> bool) -> Self {
        Self { steps_left: Cell::new(steps), is_cancelled, cancelled: Cell::new(false) }
    }

    /// Takes so many steps; false where fewer were left, or nobody waits any more.
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

    /// How many steps are left.
    #[must_use]
    pub fn remaining_steps(&self) -> u64 {
        self.steps_left.get()
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.steps_left.get() == 0
    }

    /// Why work stopped.
    #[must_use]
    pub fn stop_reason(&self) -> &'static str {
        if self.cancelled.get() {
            "the comparison was given up"
        } else {
            "the comparison takes more steps than are allowed"
        }
    }
}

/// What one made value may cost: steps of a budget, and bytes of its own.
#[derive(Debug)]
pub(super) struct SampleBudget<'b> {
    budget: &'b WorkBudget<'b>,
    bytes_left: Cell<usize>,
}

impl<'b> SampleBudget<'b> {
    pub(super) fn new(budget: &'b WorkBudget<'b>) -> Self {
        Self { budget, bytes_left: Cell::new(MAX_SAMPLE_BYTES) }
    }

    /// Takes steps; false where none are left.
    pub(super) fn spend(&self, steps: usize) -> bool {
        self.budget.spend(steps as u64)
    }

    /// Takes so many bytes, and as many steps; false where they are not left.
    pub(super) fn spend_bytes(&self, bytes: usize) -> bool {
        let left = self.bytes_left.get();
        self.bytes_left.set(left.saturating_sub(bytes));
        left >= bytes && self.spend(1 + bytes / 16)
    }

    /// How many bytes are left.
    pub(super) fn remaining_bytes(&self) -> usize {
        self.bytes_left.get()
    }
}

/// How many values a value consists of, itself included.
pub(super) fn count_values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count_values).sum::<usize>(),
        _ => 1,
    }
}

/// How large a value is, counted as keys, texts and one for every value.
pub(super) fn count_bytes(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_bytes).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, member)| name.len() + count_bytes(member)).sum::<usize>()
        }
        Value::String(text) => 1 + text.len(),
        _ => 1,
    }
}
