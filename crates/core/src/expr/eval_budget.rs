//! What one evaluation may spend: steps of work, and bytes of new strings and lists.
//!
//! Spending is counted, never timed, so the same expression over the same values always ends the same way.

use super::expr_error::UnlocatedError;

/// How many steps one evaluation may take.
const MAX_STEPS: usize = 1_000_000;
/// How many bytes of strings and lists one evaluation may create.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Reading this many bytes of a string costs one step.
const BYTES_PER_STEP: usize = 64;

/// What is left to spend.
#[derive(Debug)]
pub(super) struct EvalBudget {
    steps_left: usize,
    bytes_left: usize,
}

impl EvalBudget {
    pub(super) fn new() -> Self {
        Self { steps_left: MAX_STEPS, bytes_left: MAX_BYTES }
    }

    /// How many steps are gone.
    pub(super) fn spent_steps(&self) -> usize {
        MAX_STEPS - self.steps_left
    }

    /// Pays for this much work.
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

    /// Pays for reading a string of this length.
    pub(super) fn charge_scan(&mut self, bytes: usize) -> Result<(), UnlocatedError> {
        self.charge_steps(bytes / BYTES_PER_STEP)
    }

    /// Pays for creating this many bytes.
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
