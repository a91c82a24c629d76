//! Memory as lines of JSON, to be carried elsewhere.

use serde::{Deserialize, Serialize};

use crate::MemorySubject;
use crate::record::{
    ClaimCandidate, MemoryEpisode, MemoryEvent, MemoryFact, MemoryInsight, MemoryOrigin,
    MemoryProcedure, SessionSummary, WorkingMemory,
};

/// A line of an export. Builds are not carried: they speak of this store's rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "expected an object with `subject` and `row`")]
pub struct MemoryExportLine {
    /// Whose.
    pub subject: MemorySubject,
    /// What.
    pub row: MemoryExportRow,
}

/// A row that is carried; of what changes, the latest revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum MemoryExportRow {
    Event(Box<MemoryEvent>),
    Fact { fact: Box<MemoryFact>, origin: MemoryOrigin },
    Episode(Box<MemoryEpisode>),
    Procedure(Box<MemoryProcedure>),
    Insight(Box<MemoryInsight>),
    Candidate(Box<ClaimCandidate>),
    Working { run: String, working: Box<WorkingMemory> },
    Summary { session: String, summary: Box<SessionSummary> },
}

/// How far what is imported is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportTrust {
    /// It is an export of ours that nobody touched: origins stay as they are.
    OwnExport,
    /// It comes from somewhere: whatever it says of its origin, it is `imported`.
    Foreign,
}

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryImportReport {
    /// Lines that are kept now, or were before.
    pub accepted: u64,
    /// Lines that were not: the number of each from 1, and why.
    pub refused: Vec<(u64, String)>,
}
