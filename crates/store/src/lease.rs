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

/// How many workers may end while they work on one version of a run. After that nobody takes it: it is
/// parked until somebody says that it may go on ([`Store::unpark_run`](crate::Store::unpark)).
pub const MAX_WORKER_DEATHS: u64 = 3;

/// A run's side of its leases. Every store decides by this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeaseState {
    pub(crate) worker: Option<String>,
    pub(crate) epoch: u64,
    pub(crate) until: i64,
    /// The version of the run when it was last taken.
    pub(crate) version: u64,
    /// How many workers ended at that version without giving the run back, the present one not counted.
    pub(crate) deaths: u64,
}

impl LeaseState {
    /// Whether someone may be working on the run.
    pub(crate) fn is_held(&self, now: i64) -> bool {
        self.worker.is_some() && self.until > now
    }

    /// What the run's tenure becomes when a worker asks for it at a version of the run; `Empty` while it is
    /// another's, and where the run is parked.
    pub(crate) fn to_acquired(
        &self,
        worker: &str,
        now: i64,
        until: i64,
        version: u64,
    ) -> Option<Self> {
        let taken = Some(worker.to_owned());
        if self.is_held(now) {
            let own = self.worker == taken;
            return own.then(|| Self { until: self.until.max(until), ..self.clone() });
        }
        // Whoever takes its own lease again is alive: the machine slept, or the store was away.
        let own = self.worker == taken;
        let deaths = self.deaths_at(version, self.worker.is_some() && !own);
        let epoch = self.epoch + 1;
        (deaths < MAX_WORKER_DEATHS).then_some(Self {
            worker: taken,
            epoch,
            until,
            version,
            deaths,
        })
    }

    /// How many workers ended at a version, with the present holder where it ended too. A run that went on
    /// since it was taken has none.
    pub(crate) fn deaths_at(&self, version: u64, holder_ended: bool) -> u64 {
        if self.version == version { self.deaths + u64::from(holder_ended) } else { 0 }
    }

    /// Whether nobody takes the run any more, because too many workers ended on it.
    pub(crate) fn is_parked(&self, now: i64, version: u64) -> bool {
        !self.is_held(now) && self.deaths_at(version, self.worker.is_some()) >= MAX_WORKER_DEATHS
    }

    /// The same, given back in order. Workers that ended before are not forgotten.
    pub(crate) fn to_released(&self) -> Self {
        Self { worker: None, until: 0, ..self.clone() }
    }

    /// The same, given back because its holder ended while the run was at a version.
    pub(crate) fn to_expired(&self, version: u64) -> Self {
        let deaths = self.deaths_at(version, self.worker.is_some());
        Self { worker: None, until: 0, version, deaths, ..*self }
    }

    /// The same, given back because there is nothing to do, or because somebody says that it may go on.
    pub(crate) fn to_reset(&self) -> Self {
        Self { deaths: 0, ..self.to_released() }
    }

    /// Whether this lease is the one the run knows.
    pub(crate) fn matches_lease(&self, lease: &Lease) -> bool {
        self.epoch == lease.epoch && self.worker.as_deref() == Some(lease.worker.as_str())
    }

    /// The same as a lease, where there is a holder.
    pub(crate) fn to_lease(&self, run: &RunId) -> Option<Lease> {
        let worker = self.worker.clone()?;
        Some(Lease { run: run.clone(), worker, epoch: self.epoch, until: self.until })
    }
}

/// A lease must be someone's, and must not be over before it begins.
pub(crate) fn check_lease_term(worker: &str, now: i64, until: i64) -> Result<(), StoreError> {
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
