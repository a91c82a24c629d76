//! Who may work on a run. A lease ends by time; its epoch tells a worker that woke too late from the
//! one that came after it.

use crate::{RunId, StoreError};

/// The right to work on a run until a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// Who holds it.
    pub worker: String,
    /// Raised by every taking; a commit under an older one is refused.
    pub epoch: u64,
    /// Alive before this time.
    pub until: i64,
}

/// A run's side of its leases. Every store decides by this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tenure {
    pub(crate) worker: Option<String>,
    pub(crate) epoch: u64,
    pub(crate) until: i64,
}

impl Tenure {
    /// Whether someone may be working on the run.
    pub(crate) fn alive(&self, now: i64) -> bool {
        self.worker.is_some() && self.until > now
    }

    /// What the run's tenure becomes when a worker asks for it; `None` while it is another's.
    pub(crate) fn asked(&self, worker: &str, now: i64, until: i64) -> Option<Self> {
        let (epoch, until) = match self.alive(now) {
            true if self.worker.as_deref() != Some(worker) => return None,
            true => (self.epoch, self.until.max(until)),
            false => (self.epoch + 1, until),
        };
        Some(Self { worker: Some(worker.to_owned()), epoch, until })
    }

    /// Whether this lease is the one the run knows.
    pub(crate) fn is(&self, lease: &Lease) -> bool {
        self.epoch == lease.epoch && self.worker.as_deref() == Some(lease.worker.as_str())
    }

    /// The same as a lease, where there is a holder.
    pub(crate) fn lease(&self, run: &RunId) -> Option<Lease> {
        let worker = self.worker.clone()?;
        Some(Lease { run: run.clone(), worker, epoch: self.epoch, until: self.until })
    }
}

/// A lease must be someone's, and must not be over before it begins.
pub(crate) fn check_request(worker: &str, now: i64, until: i64) -> Result<(), StoreError> {
    if worker.is_empty() || worker.contains('\0') {
        return Err(StoreError::malformed("a lease needs the name of its worker"));
    }
    if until <= now {
        return Err(StoreError::malformed(format!(
            "a lease until {until} is over at {now}, when it is asked for"
        )));
    }
    Ok(())
}
