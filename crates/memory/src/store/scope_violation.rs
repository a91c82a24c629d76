//! Scope violations, and the checks that every backend applies to its rows.

use countersign_shipped_contracts::memory::long_term::ScopeLevel;

use super::row_store::resolve_fact_owner;
use crate::MemorySubject;

/// A row that has no scope or crosses one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeViolation {
    /// The name of the table.
    pub table: String,
    /// The id of the row within its table.
    pub row: String,
    /// A description of the problem.
    pub problem: String,
}

/// The row must belong to a subject and has none.
pub(super) const NO_SUBJECT: &str = "it has no subject";
/// The fact has no owner, not even a tenant.
pub(super) const NO_OWNER: &str = "it has no owner";
/// A fact of a user must cite events of that user; a shared fact, events of the same agent or
/// tenant.
pub(super) const CROSSES_LEVEL: &str = "it cites an event outside its level";
/// The session number must belong to the session that the event names.
pub(super) const WRONG_SESSION: &str = "it is stored under another session than it names";
/// The row names another owner than the one it is stored under.
pub(super) const WRONG_OWNER: &str = "it is stored under another owner than it names";

/// Returns whether a fact of this level may be stored under this owner, which must name exactly the
/// parts that the level requires.
pub(super) fn is_owner_at_level(whose: &MemorySubject, level: ScopeLevel) -> bool {
    let named = match level {
        ScopeLevel::User => !whose.user.is_empty() && !whose.agent.is_empty(),
        ScopeLevel::Agent => !whose.agent.is_empty(),
        ScopeLevel::Tenant => true,
    };
    named && resolve_fact_owner(whose, level) == *whose
}
