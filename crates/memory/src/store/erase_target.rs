//! Who is to be forgotten, and what was done for it.

use std::collections::BTreeMap;

use crate::{MemoryScope, MemoryScopeError, MemorySubject};

/// Who is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EraseTarget {
    /// One user with one agent.
    Subject(MemorySubject),
    /// A user with every agent.
    User {
        /// The tenant.
        tenant: String,
        /// The user.
        user: String,
    },
}

impl EraseTarget {
    /// Whether it names someone: a missing id never means everybody.
    pub fn check(&self) -> Result<(), MemoryScopeError> {
        let (tenant, user, agent) = match self {
            Self::Subject(MemorySubject { tenant, user, agent }) => (tenant, user, agent.as_str()),
            Self::User { tenant, user } => (tenant, user, "any"),
        };
        MemoryScope::new(tenant, user, agent, "any", "any").map(|_| ())
    }

    /// Whether this subject is meant.
    #[must_use]
    pub fn matches_subject(&self, subject: &MemorySubject) -> bool {
        match self {
            Self::Subject(one) => one == subject,
            Self::User { tenant, user } => subject.tenant == *tenant && subject.user == *user,
        }
    }
}

/// What was erased.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EraseReport {
    /// How many rows, by kind.
    pub rows: BTreeMap<String, u64>,
    /// Facts of an agent or a tenant that lost evidence and stand on that of others.
    pub shared_facts: Vec<String>,
    /// How many ids are remembered as hashes, so that they do not come back.
    pub tombstones: u64,
}

impl EraseReport {
    pub(super) fn add_rows(&mut self, kind: &str, rows: usize) {
        if rows > 0 {
            *self.rows.entry(kind.to_owned()).or_default() += rows as u64;
        }
    }
}

/// A place where bytes stand that should be nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResidueMatch {
    /// Which of the needles.
    pub needle: usize,
    /// The file, or the table.
    pub location: String,
    /// At which byte of it.
    pub offset: u64,
}
