//! The common interface of rows that are stored by revision.

use countersign_contract::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::record::{
    ClaimCandidate, MemoryEpisode, MemoryInsight, MemoryProcedure, SessionSummary, WorkingMemory,
};

/// A row whose revisions are all kept.
pub(super) trait RevisionedRow: Serialize + DeserializeOwned + Clone + PartialEq {
    /// The name of its table.
    const TABLE: &'static str;
    /// The kind of the row in messages and tombstones.
    const KIND: &'static str;

    /// Returns the revision number, starting at 1.
    fn revision(&self) -> u64;

    /// Returns the same row with another revision number and recording time.
    fn with_revision(self, revision: u64, recorded_at: Timestamp) -> Self;

    /// Returns the timestamp by which rows are sorted, latest first.
    fn ordering(&self) -> Timestamp;
}

macro_rules! revised {
    ($row:ty, $table:literal, $kind:literal, $ordering:ident) => {
        impl RevisionedRow for $row {
            const TABLE: &'static str = $table;
            const KIND: &'static str = $kind;

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
revised!(MemoryProcedure, "procedures", "procedure", recorded_at);
revised!(MemoryInsight, "insights", "insight", recorded_at);
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
