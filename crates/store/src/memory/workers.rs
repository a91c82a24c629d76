//! What workers ask of the reference store.

use std::collections::BTreeMap;

use super::run::Run;
use super::store::Tables;
use crate::rounds::{Candidates, in_turn};
use crate::worker::LOST_FOR;
use crate::{Lease, RunId, Taking, TenantId, Worker, WorkerRow};

impl Tables {
    /// Gives what is due to a worker.
    pub(super) fn take(&mut self, taking: &Taking, last: Option<&TenantId>) -> Vec<Lease> {
        let Taking { worker, now, until, limit, per_tenant, .. } = taking;
        let mut held: BTreeMap<TenantId, usize> = BTreeMap::new();
        for lease in self.held(*now) {
            *held.entry(lease.run.tenant).or_default() += 1;
        }
        let asked = |id: &RunId, run: &Run| run.is_due(worker, *now) && taking.asks_for(&id.tenant);
        let due = self.runs.iter().filter(|(id, run)| asked(id, run));
        let mut due: Vec<_> = due.map(|(id, run)| (run.head.wake_at, id)).collect();
        due.sort();
        let mut candidates = Candidates::new();
        for (_, run) in due {
            let others = held.get(&run.tenant).copied().unwrap_or(0);
            let known = candidates.entry(run.tenant.clone()).or_default();
            if known.len() + others < *per_tenant {
                known.push_back(run.id.clone());
            }
        }
        let mut taken = Vec::new();
        for id in in_turn(candidates, last, *limit) {
            let Some(run) = self.runs.get_mut(&id) else { continue };
            if let Some(tenure) = run.tenure.asked(worker, *now, *until, run.head.version) {
                run.tenure = tenure;
                taken.extend(run.tenure.lease(&id));
            }
        }
        taken
    }

    /// Leases that are alive.
    pub(super) fn held(&self, now: i64) -> impl Iterator<Item = Lease> {
        let held = self.runs.iter().filter(move |(_, run)| run.tenure.alive(now));
        held.filter_map(|(id, run)| run.tenure.lease(id))
    }

    /// Puts a worker on the list, and takes those off that were lost long ago.
    pub(super) fn announce(&mut self, worker: &Worker, now: i64, until: i64) {
        self.workers.retain(|_, row| row.until > now.saturating_sub(LOST_FOR));
        let row = WorkerRow { worker: worker.clone(), seen_at: now, until, holds: 0 };
        self.workers.insert(worker.name.clone(), row);
    }

    /// The list, with what each of them holds.
    pub(super) fn workers(&self, now: i64) -> Vec<WorkerRow> {
        let holds = |name: &str| self.held(now).filter(|lease| lease.worker == name).count() as u64;
        let rows = self.workers.iter();
        rows.map(|(name, row)| WorkerRow { holds: holds(name), ..row.clone() }).collect()
    }
}
