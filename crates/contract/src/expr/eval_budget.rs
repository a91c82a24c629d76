//! Evaluation budget: limits on steps, and on the bytes of new strings and lists.
//!
//! The budget counts work, never time, so the same expression over the same values always has the
//! same result.

use super::expr_error::UnlocatedError;

/// Maximum number of steps of one evaluation.
const MAX_STEPS: usize = 1_000_000;
/// Maximum number of bytes of strings and lists that one evaluation creates.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Number of string bytes whose reading costs one step.
const BYTES_PER_STEP: usize = 64;

/// Steps and bytes that are left.
#[derive(Debug)]
pub(super) struct EvalBudget {
    steps_left: usize,
    bytes_left: usize,
}

impl EvalBudget {
    pub(super) fn new() -> Self {
        Self { steps_left: MAX_STEPS, bytes_left: MAX_BYTES }
    }

    /// Returns the number of steps used so far.
    pub(super) fn spent_steps(&self) -> usize {
        MAX_STEPS - self.steps_left
    }

    /// Charges this many steps, or fails if fewer are left.
    #[inline]
    pub(super) fn charge_steps(&mut self, steps: usize) -> Result<(), UnlocatedError> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(step_budget_error()),
        }
    }

    /// Charges the steps for reading a string of this length.
    pub(super) fn charge_scan(&mut self, bytes: usize) -> Result<(), UnlocatedError> {
        self.charge_steps(bytes / BYTES_PER_STEP)
    }

    /// Charges for creating this many bytes, or fails if fewer are left.
    pub(super) fn charge_bytes(&mut self, bytes: usize) -> Result<(), UnlocatedError> {
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => {
                self.bytes_left = left;
                Ok(())
            }
            None => Err(UnlocatedError::new(format!(
                "the byte budget is spent: one evaluation may create at most {MAX_BYTES} bytes of strings and lists"
            ))),
        }
    }
}

#[cold]
fn step_budget_error() -> UnlocatedError {
    UnlocatedError::new(format!(
        "the step budget is spent: one evaluation may take at most {MAX_STEPS} steps"
    ))
}
