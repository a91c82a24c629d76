//! The parts of the reference store that serve workers.

use std::collections::BTreeMap;

use super::run::InMemoryRun;
use super::store::InMemoryTables;
use crate::round_robin::{DueRunsByTenant, select_round_robin};
use crate::worker::LOST_WORKER_RETENTION_MS;
use crate::{DueRunsRequest, Lease, RunId, TenantId, WorkerInfo, WorkerRow};

impl InMemoryTables {
    /// Acquires due runs for a worker.
    pub(super) fn acquire_due_runs(
        &mut self,
        taking: &DueRunsRequest,
        last: Option<&TenantId>,
    ) -> Vec<Lease> {
        let DueRunsRequest { worker, now, until, limit, per_tenant, .. } = taking;
        let mut held: BTreeMap<TenantId, usize> = BTreeMap::new();
        for lease in self.live_leases(*now) {
            *held.entry(lease.run.tenant).or_default() += 1;
        }
        let asked = |id: &RunId, run: &InMemoryRun| {
            run.is_due(worker, *now) && taking.includes_tenant(&id.tenant)
        };
        let due = self.runs.iter().filter(|(id, run)| asked(id, run));
        let mut due: Vec<_> = due.map(|(id, run)| (run.head.wake_at, id)).collect();
        due.sort();
        let mut candidates = DueRunsByTenant::new();
        for (_, run) in due {
            let others = held.get(&run.tenant).copied().unwrap_or(0);
            let known = candidates.entry(run.tenant.clone()).or_default();
            if known.len() + others < *per_tenant {
                known.push_back(run.id.clone());
            }
        }
        let mut taken = Vec::new();
        for id in select_round_robin(candidates, last, *limit) {
            let Some(run) = self.runs.get_mut(&id) else { continue };
            if let Some(tenure) = run.lease.to_acquired(worker, *now, *until, run.head.version) {
                run.lease = tenure;
                taken.extend(run.lease.to_lease(&id));
            }
        }
        taken
    }

    /// Leases that are alive at the time `now`.
    pub(super) fn live_leases(&self, now: i64) -> impl Iterator<Item = Lease> {
        let held = self.runs.iter().filter(move |(_, run)| run.lease.is_held(now));
        held.filter_map(|(id, run)| run.lease.to_lease(id))
    }

    /// Adds or renews a worker, and removes workers that were lost long ago.
    pub(super) fn record_heartbeat(&mut self, worker: &WorkerInfo, now: i64, until: i64) {
        self.workers.retain(|_, row| row.expires_at > now.saturating_sub(LOST_WORKER_RETENTION_MS));
        let row =
            WorkerRow { info: worker.clone(), seen_at: now, expires_at: until, lease_count: 0 };
        self.workers.insert(worker.name.clone(), row);
    }

    /// Lists the workers, each with the number of runs it holds.
    pub(super) fn list_workers(&self, now: i64) -> Vec<WorkerRow> {
        let holds =
            |name: &str| self.live_leases(now).filter(|lease| lease.worker == name).count() as u64;
        let rows = self.workers.iter();
        rows.map(|(name, row)| WorkerRow { lease_count: holds(name), ..row.clone() }).collect()
    }
}
