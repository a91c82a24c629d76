//! Leases: which worker may work on a run. A lease expires by time; its epoch distinguishes a
//! worker that woke up too late from the worker that acquired the run after it.

use crate::{RunId, StoreError};

/// A worker's right to work on a run until a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Run that the lease covers.
    pub run: RunId,
    /// Name of the worker that holds the lease.
    pub worker: String,
    /// Number that every acquisition raises; the store refuses a commit under an older epoch.
    pub epoch: u64,
    /// Expiry in milliseconds since the Unix epoch; the lease is alive before this time.
    pub until: i64,
}

/// How many workers may end while they work on one version of a run. After that, no worker acquires
/// the run: it is parked until [`LeaseStore::unpark_run`](crate::LeaseStore::unpark_run) makes it available
/// again.
pub const MAX_WORKER_DEATHS: u64 = 3;

/// The lease fields of a run. Every store makes its lease decisions with this type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeaseState {
    pub(crate) worker: Option<String>,
    pub(crate) epoch: u64,
    pub(crate) until: i64,
    /// The version of the run when it was last acquired.
    pub(crate) version: u64,
    /// Number of workers that ended at that version without releasing the run, not counting the
    /// current holder.
    pub(crate) deaths: u64,
}

impl LeaseState {
    /// Whether a worker may be working on the run.
    pub(crate) fn is_held(&self, now: i64) -> bool {
        self.worker.is_some() && self.until > now
    }

    /// Returns the lease state after a worker acquires the run at a version; `None` while another
    /// worker holds the lease, and if the run is parked.
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
        // A worker that acquires its own lease again is alive: the machine slept, or the store was
        // unavailable.
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

    /// Number of workers that ended at a version, including the current holder if it ended too.
    /// Zero if the run advanced since it was acquired.
    pub(crate) fn deaths_at(&self, version: u64, holder_ended: bool) -> u64 {
        if self.version == version { self.deaths + u64::from(holder_ended) } else { 0 }
    }

    /// Whether no worker may acquire the run, because too many workers ended on it.
    pub(crate) fn is_parked(&self, now: i64, version: u64) -> bool {
        !self.is_held(now) && self.deaths_at(version, self.worker.is_some()) >= MAX_WORKER_DEATHS
    }

    /// The state after an orderly release. The count of earlier worker deaths stays.
    pub(crate) fn to_released(&self) -> Self {
        Self { worker: None, until: 0, ..self.clone() }
    }

    /// The state after the holder ended while the run was at `version`.
    pub(crate) fn to_expired(&self, version: u64) -> Self {
        let deaths = self.deaths_at(version, self.worker.is_some());
        Self { worker: None, until: 0, version, deaths, ..*self }
    }

    /// The state after a release because the run has no work, or after the run was unparked. The
    /// count of worker deaths is reset.
    pub(crate) fn to_reset(&self) -> Self {
        Self { deaths: 0, ..self.to_released() }
    }

    /// Whether this lease is the run's current one.
    pub(crate) fn matches_lease(&self, lease: &Lease) -> bool {
        self.epoch == lease.epoch && self.worker.as_deref() == Some(lease.worker.as_str())
    }

    /// Converts the state to a lease; `None` if there is no holder.
    pub(crate) fn to_lease(&self, run: &RunId) -> Option<Lease> {
        let worker = self.worker.clone()?;
        Some(Lease { run: run.clone(), worker, epoch: self.epoch, until: self.until })
    }
}

/// Checks that a lease names a worker and ends after `now`.
pub(crate) fn check_lease_term(worker: &str, now: i64, until: i64) -> Result<(), StoreError> {
    if worker.is_empty() || worker.contains('\0') {
        return Err(StoreError::malformed("a lease needs the name of its worker"));
    }
    if until <= now {
        return Err(StoreError::malformed(format!(
            "lease expiry {until} is not after the current time {now}"
        )));
    }
    Ok(())
}
