//! A row that is not where its scope says, and what every store asks of a row.

use countersign_contracts::memory::long_term::ScopeLevel;

use super::row_store::resolve_fact_owner;
use crate::MemorySubject;

/// A row that lacks a scope or crosses one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeViolation {
    /// The table.
    pub table: String,
    /// What it is called there.
    pub row: String,
    /// What is wrong.
    pub problem: String,
}

/// Only a subject may have it.
pub(super) const NO_SUBJECT: &str = "it has no subject";
/// A fact without a holder, not even a tenant.
pub(super) const NO_OWNER: &str = "nobody holds it";
/// A user's fact rests on the user's events; a shared one on those of the same agent or tenant.
pub(super) const CROSSES_LEVEL: &str = "it rests on an event outside its level";
/// A session's number is that of the session whose id the event names.
pub(super) const WRONG_SESSION: &str = "its session is another than its place says";
/// The row names another owner than the one it lies with.
pub(super) const WRONG_OWNER: &str = "it lies elsewhere than it says";

/// Whether a fact of this level may lie with this holder, which names all that the level asks for and
/// nothing more.
pub(super) fn is_owner_at_level(whose: &MemorySubject, level: ScopeLevel) -> bool {
    let named = match level {
        ScopeLevel::User => !whose.user.is_empty() && !whose.agent.is_empty(),
        ScopeLevel::Agent => !whose.agent.is_empty(),
        ScopeLevel::Tenant => true,
    };
    named && resolve_fact_owner(whose, level) == *whose
}
