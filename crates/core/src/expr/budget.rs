//! What one evaluation may spend: steps of work, and bytes of new strings and lists.
//!
//! Spending is counted, never timed, so the same expression over the same values always ends the same way.

use super::error::Fault;

/// How many steps one evaluation may take.
const STEPS: usize = 1_000_000;
/// How many bytes of strings and lists one evaluation may create.
const BYTES: usize = 4 * 1024 * 1024;
/// Reading this many bytes of a string costs one step.
const BYTES_A_STEP: usize = 64;

/// What is left to spend.
#[derive(Debug)]
pub(super) struct Budget {
    steps: usize,
    bytes: usize,
}

impl Budget {
    pub(super) fn full() -> Self {
        Self { steps: STEPS, bytes: BYTES }
    }

    /// How many steps are gone.
    pub(super) fn spent(&self) -> usize {
        STEPS - self.steps
    }

    /// Pays for this much work.
    #[inline]
    pub(super) fn work(&mut self, steps: usize) -> Result<(), Fault> {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(spent_steps()),
        }
    }

    /// Pays for reading a string of this length.
    pub(super) fn scan(&mut self, bytes: usize) -> Result<(), Fault> {
        self.work(bytes / BYTES_A_STEP)
    }

    /// Pays for creating this many bytes.
    pub(super) fn create(&mut self, bytes: usize) -> Result<(), Fault> {
        match self.bytes.checked_sub(bytes) {
            Some(left) => {
                self.bytes = left;
                Ok(())
            }
            None => Err(Fault::new(format!(
                "the byte budget is spent: one evaluation may create at most {BYTES} bytes of strings and lists"
            ))),
        }
    }
}

#[cold]
fn spent_steps() -> Fault {
    Fault::new(format!("the step budget is spent: one evaluation may take at most {STEPS} steps"))
}
