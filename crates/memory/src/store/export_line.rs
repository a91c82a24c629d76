//! The export format: memory as lines of JSON.

use serde::{Deserialize, Serialize};

use crate::MemorySubject;
use crate::record::{
    ClaimCandidate, MemoryEpisode, MemoryEvent, MemoryFact, MemoryInsight, MemoryOrigin,
    MemoryProcedure, SessionSummary, WorkingMemory,
};

/// A line of an export. Builds are not exported, because they refer to rows of this store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "expected an object with `subject` and `row`")]
pub struct MemoryExportLine {
    /// The owner of the row.
    pub subject: MemorySubject,
    /// The exported row.
    pub row: MemoryExportRow,
}

/// An exported row; for rows with revisions, the latest one.
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
    WorkingMemory { run: String, memory: Box<WorkingMemory> },
    Summary { session: String, summary: Box<SessionSummary> },
}

/// How far imported rows are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportTrust {
    /// The import is an unmodified export of this product: origins are kept.
    OwnExport,
    /// The import has another source: every origin becomes `imported`.
    Foreign,
}

/// The report of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryImportReport {
    /// The number of lines that were stored, or existed before.
    pub accepted: u64,
    /// The refused lines: line number, starting at 1, and reason.
    pub refused: Vec<(u64, String)>,
}
