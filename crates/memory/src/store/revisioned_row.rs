//! Rows that change are kept by revision, all in the same way.

use countersign_core::run::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::record::{
    ClaimCandidate, MemoryEpisode, MemoryInsight, MemoryProcedure, SessionSummary, WorkingMemory,
};

/// A row of which every revision is kept.
pub(super) trait RevisionedRow: Serialize + DeserializeOwned + Clone + PartialEq {
    /// Its table.
    const TABLE: &'static str;
    /// What it is called in messages and tombstones.
    const KIND: &'static str;

    /// Its revision, from 1.
    fn revision(&self) -> u64;

    /// The same as another revision, written down at another time.
    fn with_revision(self, revision: u64, recorded_at: Timestamp) -> Self;

    /// By what the latest are found first.
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

/// Every table of this kind.
pub(super) const REVISED_TABLES: [(&str, &str); 6] = [
    (WorkingMemory::TABLE, WorkingMemory::KIND),
    (SessionSummary::TABLE, SessionSummary::KIND),
    (MemoryEpisode::TABLE, MemoryEpisode::KIND),
    (MemoryProcedure::TABLE, MemoryProcedure::KIND),
    (MemoryInsight::TABLE, MemoryInsight::KIND),
    (ClaimCandidate::TABLE, ClaimCandidate::KIND),
];
