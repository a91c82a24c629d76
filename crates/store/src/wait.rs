//! Open waits: the inbox. A wait that was closed stays in the log and leaves this table.

use crate::{RunId, TenantId};

/// An open wait of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitRow {
    /// Id that is unique within the run.
    pub id: String,
    /// The run that waits.
    pub run: RunId,
    /// Kind of wait, as the caller names it.
    pub kind: String,
    /// When the wait opened, in milliseconds since the Unix epoch.
    pub opened_at: i64,
    /// When the wait ends, in milliseconds since the Unix epoch; `None` if it has no deadline.
    pub deadline: Option<i64>,
    /// Assignees who may answer, as the caller names them; anyone may answer if there are none.
    pub who: Vec<String>,
    /// The serialized question, which the store does not interpret.
    pub body: String,
}

impl WaitRow {
    /// Returns the cursor that continues a list after this wait.
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

/// Selects the waits to list. Every condition that is set must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitFilter {
    /// Tenant whose waits are listed.
    pub tenant: TenantId,
    /// Lists only waits of the run with this id.
    pub run: Option<String>,
    /// Lists only waits of this kind.
    pub kind: Option<String>,
    /// Lists only waits that one of these assignees may answer, and those without an assignee. No
    /// condition if empty.
    pub who: Vec<String>,
    /// Lists only waits after this position.
    pub after: Option<WaitCursor>,
    /// Maximum number of waits to return.
    pub limit: usize,
}

impl WaitFilter {
    /// Selects every open wait of a tenant.
    #[must_use]
    pub fn all(tenant: TenantId, limit: usize) -> Self {
        Self { tenant, run: None, kind: None, who: Vec::new(), after: None, limit }
    }
}

/// Sort key of waits without a deadline: they come last in the list.
pub(crate) const NO_DEADLINE: i64 = i64::MAX;

/// A position in a list of waits; the order of its fields is the order of the list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitCursor {
    /// Deadline of the wait at this position; `i64::MAX` if it has none.
    pub deadline: i64,
    /// When the wait opened, in milliseconds since the Unix epoch.
    pub opened_at: i64,
    /// Id of the run that waits.
    pub run: String,
    /// Id of the wait within its run.
    pub id: String,
}

/// Encodes assignees as one text in which each stands on a line of its own; `None` if there are
/// none.
pub(crate) fn encode_assignees(who: &[String]) -> Option<String> {
    let lines = who.iter().map(|one| enclose_assignee(one)).collect::<Vec<_>>();
    (!lines.is_empty()).then(|| lines.join(""))
}

/// Decodes what [`encode_assignees`] wrote.
pub(crate) fn decode_assignees(text: Option<&str>) -> Vec<String> {
    text.unwrap_or_default().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// An assignee as it is found inside an encoded text.
pub(crate) fn enclose_assignee(name: &str) -> String {
    format!("\n{name}\n")
}
