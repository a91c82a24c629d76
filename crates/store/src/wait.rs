//! Open waits: the inbox. A wait that is over is in the log, and not here any more.

use crate::{RunId, TenantId};

/// An open wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitRow {
    /// Names it within its run.
    pub id: String,
    /// The run that waits.
    pub run: RunId,
    /// What it waits for.
    pub kind: String,
    /// Since when.
    pub opened_at: i64,
    /// Until when, where there is an end.
    pub deadline: Option<i64>,
    /// Who may answer; anyone where absent.
    pub who: Option<String>,
    /// The question itself.
    pub body: String,
}

impl WaitRow {
    /// Where a list goes on after this wait.
    #[must_use]
    pub fn to_cursor(&self) -> WaitCursor {
        WaitCursor {
            deadline: self.deadline.unwrap_or(NO_DEADLINE),
            opened_at: self.opened_at,
            run: self.run.id.clone(),
            id: self.id.clone(),
        }
    }
}

/// Which waits to list. Everything that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitFilter {
    /// Whose waits.
    pub tenant: TenantId,
    /// Only of the run with this id.
    pub run: Option<String>,
    /// Only of this kind.
    pub kind: Option<String>,
    /// Only those this one may answer: addressed to them, or to no one in particular.
    pub who: Option<String>,
    /// Only those that come after this one in the list.
    pub after: Option<WaitCursor>,
    /// At most so many.
    pub limit: usize,
}

impl WaitFilter {
    /// Every open wait of a tenant.
    #[must_use]
    pub fn all(tenant: TenantId, limit: usize) -> Self {
        Self { tenant, run: None, kind: None, who: None, after: None, limit }
    }
}

/// Where waits without a deadline stand in the list.
pub(crate) const NO_DEADLINE: i64 = i64::MAX;

/// A place in a list of waits; the order of its fields is the order of the list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitCursor {
    /// The deadline of the wait there; the end of time where it has none.
    pub deadline: i64,
    /// Since when it is open.
    pub opened_at: i64,
    /// The id of its run.
    pub run: String,
    /// Its own id.
    pub id: String,
}
