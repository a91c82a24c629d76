//! The result of converting an export: what is taken and what is not.

use countersign_contract::Timestamp;

use crate::MemorySubject;
use crate::record::MemoryOrigin;
use crate::store::{MemoryExportLine, MemoryExportRow};

/// The converted contents of one or several files of an export.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForeignConversion {
    /// What can be imported, in the order of [`ForeignConversion::sort_sessions`].
    pub items: Vec<ForeignItem>,
    /// What cannot be imported.
    pub omissions: Vec<ForeignOmission>,
}

/// A row of an export, with its place in the file that it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignItem {
    /// The file and the JSON Pointer or line of the item: `conversations.json#/3/mapping/a1`.
    pub place: String,
    /// The item as a row of an export of this product.
    pub row: MemoryExportRow,
}

/// A part of an export that is not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignOmission {
    /// The file and the JSON Pointer or line of the part.
    pub place: String,
    /// The reason, in a few words.
    pub reason: String,
}

impl ForeignConversion {
    /// Adds the contents of another file.
    pub fn append(&mut self, other: Self) {
        self.items.extend(other.items);
        self.omissions.extend(other.omissions);
    }

    /// Sorts the sessions by the time of their first event, because a memory numbers sessions in
    /// the order in which they are written. Events of a session keep their order, and rows that
    /// cite events come after all of them.
    pub fn sort_sessions(&mut self) {
        let mut starts = std::collections::BTreeMap::<String, Timestamp>::new();
        for item in &self.items {
            if let MemoryExportRow::Event(event) = &item.row {
                let start = starts.entry(event.scope.session().to_owned()).or_insert(event.ts);
                *start = (*start).min(event.ts);
            }
        }
        self.items.sort_by_cached_key(|item| match &item.row {
            MemoryExportRow::Event(event) => {
                let session = event.scope.session().to_owned();
                (0, starts.get(&session).copied().unwrap_or_default(), session)
            }
            _ => (1, Timestamp::default(), String::new()),
        });
    }
}

impl ForeignItem {
    /// Returns the kind and the id of the item.
    #[must_use]
    pub fn describe(&self) -> (&'static str, &str) {
        match &self.row {
            MemoryExportRow::Event(event) => ("event", &event.id),
            MemoryExportRow::Fact { fact, .. } => ("fact", &fact.id),
            MemoryExportRow::Episode(episode) => ("episode", &episode.id),
            MemoryExportRow::Procedure(procedure) => ("procedure", &procedure.id),
            MemoryExportRow::Insight(insight) => ("insight", &insight.id),
            MemoryExportRow::Candidate(candidate) => ("candidate", &candidate.id),
            MemoryExportRow::WorkingMemory { run, .. } => ("working state", run),
            MemoryExportRow::Summary { session, .. } => ("summary", session),
        }
    }

    /// Converts the item to an export line of its owner.
    #[must_use]
    pub fn to_line(&self, owner: &MemorySubject) -> MemoryExportLine {
        MemoryExportLine { subject: owner.clone(), row: self.row.clone() }
    }
}

/// The origin of everything that is converted.
pub(super) const ORIGIN: MemoryOrigin = MemoryOrigin::Imported;
