//! Rows that change are kept by revision, all in the same way.

use countersign_core::run::Time;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::record::{Candidate, Episode, Insight, Procedure, Summary, Working};

/// A row of which every revision is kept.
pub(super) trait Revised: Serialize + DeserializeOwned + Clone + PartialEq {
    /// Its table.
    const TABLE: &'static str;
    /// What it is called in messages and tombstones.
    const KIND: &'static str;

    /// Its revision, from 1.
    fn revision(&self) -> u64;

    /// The same as another revision, written down at another time.
    fn at_revision(self, revision: u64, recorded_at: Time) -> Self;

    /// By what the latest are found first.
    fn ordering(&self) -> Time;
}

macro_rules! revised {
    ($row:ty, $table:literal, $kind:literal, $ordering:ident) => {
        impl Revised for $row {
            const TABLE: &'static str = $table;
            const KIND: &'static str = $kind;

            fn revision(&self) -> u64 {
                self.revision.into()
            }

            fn at_revision(mut self, revision: u64, recorded_at: Time) -> Self {
                self.revision = u32::try_from(revision).unwrap_or(u32::MAX);
                self.recorded_at = recorded_at;
                self
            }

            fn ordering(&self) -> Time {
                self.$ordering
            }
        }
    };
}

revised!(Episode, "episodes", "episode", end);
revised!(Procedure, "procedures", "procedure", recorded_at);
revised!(Insight, "insights", "insight", recorded_at);
revised!(Candidate, "candidates", "candidate", recorded_at);
revised!(Summary, "stm_summary", "summary", recorded_at);

impl Revised for Working {
    const TABLE: &'static str = "wm_state";
    const KIND: &'static str = "working state";

    fn revision(&self) -> u64 {
        self.state.state_version
    }

    fn at_revision(mut self, revision: u64, recorded_at: Time) -> Self {
        self.state.state_version = revision;
        self.recorded_at = recorded_at;
        self
    }

    fn ordering(&self) -> Time {
        self.recorded_at
    }
}

/// Every table of this kind.
pub(super) const REVISED_TABLES: [(&str, &str); 6] = [
    (Working::TABLE, Working::KIND),
    (Summary::TABLE, Summary::KIND),
    (Episode::TABLE, Episode::KIND),
    (Procedure::TABLE, Procedure::KIND),
    (Insight::TABLE, Insight::KIND),
    (Candidate::TABLE, Candidate::KIND),
];
