//! Memory as lines of JSON, to be carried elsewhere.

use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::record::{
    Candidate, Episode, Event, Fact, Insight, Origin, Procedure, Summary, Working,
};

/// A line of an export. Builds are not carried: they speak of this store's rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "expected an object with `subject` and `row`")]
pub struct Line {
    /// Whose.
    pub subject: Subject,
    /// What.
    pub row: Carried,
}

/// A row that is carried; of what changes, the latest revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Carried {
    Event(Box<Event>),
    Fact { fact: Box<Fact>, origin: Origin },
    Episode(Box<Episode>),
    Procedure(Box<Procedure>),
    Insight(Box<Insight>),
    Candidate(Box<Candidate>),
    Working { run: String, working: Box<Working> },
    Summary { session: String, summary: Box<Summary> },
}

/// How far what is imported is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// It is an export of ours that nobody touched: origins stay as they are.
    Ours,
    /// It comes from somewhere: whatever it says of its origin, it is `imported`.
    Foreign,
}

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    /// Lines that are kept now, or were before.
    pub kept: u64,
    /// Lines that were not: the number of each from 1, and why.
    pub refused: Vec<(u64, String)>,
}
