//! The common interface of rows that are stored by revision.

use countersign_contract::Timestamp;
use countersign_contract::json::sha256_hex;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::expired_rows::split_expiry;
use crate::record::{
    ClaimCandidate, MemoryEpisode, MemoryInsight, MemoryProcedure, SessionSummary, WorkingMemory,
};

/// A row whose revisions are all kept.
pub(super) trait RevisionedRow: Serialize + DeserializeOwned + Clone + PartialEq {
    /// The name of its table.
    const TABLE: &'static str;
    /// The kind of the row in messages and tombstones.
    const KIND: &'static str;

    /// The columns beside the body by which an index finds rows of this table only.
    const LOOKUP_COLUMNS: &'static [&'static str] = &[];

    /// Returns the values of the lookup columns, in the same order.
    fn lookup_values(&self) -> Vec<LookupValue> {
        Vec::new()
    }

    /// Returns the revision number, starting at 1.
    fn revision(&self) -> u64;

    /// Returns the same row with another revision number and recording time.
    fn with_revision(self, revision: u64, recorded_at: Timestamp) -> Self;

    /// Returns the timestamp by which rows are sorted, latest first.
    fn ordering(&self) -> Timestamp;
}

/// The value of a lookup column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LookupValue {
    /// A text of bounded length without NUL.
    Text(Option<String>),
    /// A 64-bit integer.
    Integer(Option<i64>),
}

/// Returns the value of `task_digest` for a task type: its SHA-256, because a task type may be
/// longer than an index entry and contain any character.
pub(super) fn compute_task_digest(task_type: &str) -> String {
    sha256_hex(&[task_type.as_bytes()])
}

macro_rules! revised {
    ($row:ty, $table:literal, $kind:literal, $ordering:ident $(, { $($lookup:tt)* })?) => {
        impl RevisionedRow for $row {
            const TABLE: &'static str = $table;
            const KIND: &'static str = $kind;
            $($($lookup)*)?

            fn revision(&self) -> u64 {
                self.revision.into()
            }

            fn with_revision(mut self, revision: u64, recorded_at: Timestamp) -> Self {
                self.revision = u32::try_from(revision).unwrap_or(u32::MAX);
                self.recorded_at = recorded_at;
                self
            }

            fn ordering(&self) -> Timestamp {
                self.$ordering
            }
        }
    };
}

revised!(MemoryEpisode, "episodes", "episode", end);
revised!(MemoryProcedure, "procedures", "procedure", recorded_at, {
    const LOOKUP_COLUMNS: &'static [&'static str] = &["task_digest"];

    fn lookup_values(&self) -> Vec<LookupValue> {
        vec![LookupValue::Text(Some(compute_task_digest(&self.task_type)))]
    }
});
revised!(MemoryInsight, "insights", "insight", recorded_at, {
    const LOOKUP_COLUMNS: &'static [&'static str] = &["expires_at", "expires_with_run"];

    fn lookup_values(&self) -> Vec<LookupValue> {
        let (at, with_run) = split_expiry(Some(self.expires), &self.run);
        vec![LookupValue::Integer(at), LookupValue::Text(with_run.map(str::to_owned))]
    }
});
revised!(ClaimCandidate, "candidates", "candidate", recorded_at);
revised!(SessionSummary, "stm_summary", "summary", recorded_at);

impl RevisionedRow for WorkingMemory {
    const TABLE: &'static str = "wm_state";
    const KIND: &'static str = "working state";

    fn revision(&self) -> u64 {
        self.state.state_version
    }

    fn with_revision(mut self, revision: u64, recorded_at: Timestamp) -> Self {
        self.state.state_version = revision;
        self.recorded_at = recorded_at;
        self
    }

    fn ordering(&self) -> Timestamp {
        self.recorded_at
    }
}

/// All tables with revisions, each with its kind.
pub(super) const REVISED_TABLES: [(&str, &str); 6] = [
    (WorkingMemory::TABLE, WorkingMemory::KIND),
    (SessionSummary::TABLE, SessionSummary::KIND),
    (MemoryEpisode::TABLE, MemoryEpisode::KIND),
    (MemoryProcedure::TABLE, MemoryProcedure::KIND),
    (MemoryInsight::TABLE, MemoryInsight::KIND),
    (ClaimCandidate::TABLE, ClaimCandidate::KIND),
];
