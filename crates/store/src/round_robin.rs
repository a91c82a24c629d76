//! Selects runs when many tenants have due runs: one of each tenant in turn, so that a tenant with
//! a hundred thousand due runs does not block the others. Every store that selects in Rust uses
//! this.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Mutex, PoisonError};

use crate::{RunId, TenantId};

/// The tenant that was served last. A store keeps it while it is open, because workers that each
/// acquire a single run must also go round the tenants.
#[derive(Debug, Default)]
pub(crate) struct TenantRoundRobin {
    last_served: Mutex<Option<TenantId>>,
}

impl TenantRoundRobin {
    /// Returns the tenant that was served last.
    pub(crate) fn last_served(&self) -> Option<TenantId> {
        self.last_served.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the tenant that was served last; the next turn starts after it.
    pub(crate) fn set_last_served(&self, tenant: &TenantId) {
        *self.last_served.lock().unwrap_or_else(PoisonError::into_inner) = Some(tenant.clone());
    }
}

/// Runs that may be acquired, per tenant, each tenant's in its own order.
pub(crate) type DueRunsByTenant = BTreeMap<TenantId, VecDeque<String>>;

/// Selects one run of each tenant in turn, starting after `last`, until there are `limit`.
pub(crate) fn select_round_robin(
    mut due: DueRunsByTenant,
    last: Option<&TenantId>,
    limit: usize,
) -> Vec<RunId> {
    let mut chosen = Vec::new();
    let mut order: Vec<TenantId> = match last {
        Some(last) => {
            let after = (Bound::Excluded(last), Bound::Unbounded);
            let after = due.range::<TenantId, _>(after);
            let before = due.range::<TenantId, _>(..=last);
            after.chain(before).map(|(tenant, _)| tenant.clone()).collect()
        }
        None => due.keys().cloned().collect(),
    };
    while chosen.len() < limit && !order.is_empty() {
        order.retain(|tenant| {
            let Some(id) = due.get_mut(tenant).and_then(VecDeque::pop_front) else { return false };
            if chosen.len() < limit {
                chosen.push(RunId::new(tenant.clone(), id));
            }
            true
        });
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(last: Option<&str>, limit: usize) -> String {
        let due = [("a", vec!["1", "2", "3", "4"]), ("b", vec!["1"]), ("c", vec!["1", "2"])];
        let due = due.into_iter().map(|(tenant, ids)| {
            (TenantId::new(tenant), ids.into_iter().map(str::to_owned).collect())
        });
        let last = last.map(TenantId::new);
        let chosen = select_round_robin(due.collect(), last.as_ref(), limit);
        chosen.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tenants_are_served_in_turn() {
        assert_eq!(turns(None, 9), "a/1 b/1 c/1 a/2 c/2 a/3 a/4");
        assert_eq!(turns(Some("a"), 4), "b/1 c/1 a/1 c/2");
        assert_eq!(turns(Some("c"), 2), "a/1 b/1");
        assert_eq!(turns(Some("bb"), 2), "c/1 a/1");
        assert_eq!(turns(None, 0), "");
    }
}
