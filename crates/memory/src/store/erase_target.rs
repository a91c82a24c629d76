//! Erasure targets and reports.

use std::collections::BTreeMap;

use crate::{MemoryScope, MemoryScopeError, MemorySubject};

/// The owner whose memory is erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EraseTarget {
    /// One user of one agent.
    Subject(MemorySubject),
    /// One user of every agent.
    User {
        /// The tenant id.
        tenant: String,
        /// The user id.
        user: String,
    },
}

impl EraseTarget {
    /// Checks that every id is valid. A missing id never means everybody.
    pub fn check(&self) -> Result<(), MemoryScopeError> {
        let (tenant, user, agent) = match self {
            Self::Subject(MemorySubject { tenant, user, agent }) => (tenant, user, agent.as_str()),
            Self::User { tenant, user } => (tenant, user, "any"),
        };
        MemoryScope::new(tenant, user, agent, "any", "any").map(|_| ())
    }

    /// Returns whether the target includes this subject.
    #[must_use]
    pub fn matches_subject(&self, subject: &MemorySubject) -> bool {
        match self {
            Self::Subject(one) => one == subject,
            Self::User { tenant, user } => subject.tenant == *tenant && subject.user == *user,
        }
    }
}

/// The report of an erasure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EraseReport {
    /// The number of erased rows by kind.
    pub rows: BTreeMap<String, u64>,
    /// Ids of facts at the agent or tenant level that lost evidence but still have evidence of
    /// others.
    pub shared_facts: Vec<String>,
    /// The number of ids that are kept as hashes, so that they cannot be written again.
    pub tombstones: u64,
}

impl EraseReport {
    pub(super) fn add_rows(&mut self, kind: &str, rows: usize) {
        if rows > 0 {
            *self.rows.entry(kind.to_owned()).or_default() += rows as u64;
        }
    }
}

/// A location where erased bytes still exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResidueMatch {
    /// The index of the needle that was found.
    pub needle: usize,
    /// The file or the table.
    pub location: String,
    /// The byte offset within the location.
    pub offset: u64,
}
