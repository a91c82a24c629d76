//! A packet that was built: what it was asked with, and every row that was looked at.

use countersign_contracts::memory::long_term::ScopeLevel;
use countersign_core::run::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::MemoryEvent;
use crate::{Candidates, PacketRequest, ReadTruncation, RelevanceScore};

/// A build: with its rows, all that is needed to compose it again. The packet's text is not kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketBuild {
    /// Unique within its subject.
    pub id: String,
    /// What was asked.
    pub request: PacketRequest,
    /// The whole policy.
    pub policy: Value,
    /// Who counted the tokens.
    pub tokenizer: String,
    /// The digest of the packet.
    pub digest: String,
    /// When it was built.
    pub built_at: Timestamp,
    /// Every row that was looked at.
    pub rows: Vec<BuildRow>,
    /// What was not looked at as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<ReadTruncation>,
    /// The insights that stood in the packet, and those that the writers of what stood there were shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen_insights: Vec<String>,
}

/// A row that was looked at for a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuildRow {
    /// What it is.
    pub kind: BuildRowKind,
    /// Its id; of a working state its run, of a summary its session.
    pub id: String,
    /// Which revision; 1 for what never changes.
    pub revision: u64,
    /// How well it answered.
    pub score: RelevanceScore,
    /// Whether it went into the packet.
    pub selected: bool,
}

/// What a row of a build is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum BuildRowKind {
    Working,
    Summary,
    FactOfUser,
    FactOfAgent,
    FactOfTenant,
    Procedure,
    Episode,
    Insight,
    /// A guess of another run, by whose words others were held back.
    Guess,
    /// A validated insight, by which what was written after it may be seen.
    Cleared,
    Quote,
    Window,
    Evidence,
}

impl BuildRowKind {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Summary => "summary",
            Self::FactOfUser => "fact_of_user",
            Self::FactOfAgent => "fact_of_agent",
            Self::FactOfTenant => "fact_of_tenant",
            Self::Procedure => "procedure",
            Self::Episode => "episode",
            Self::Insight => "insight",
            Self::Guess => "guess",
            Self::Cleared => "cleared",
            Self::Quote => "quote",
            Self::Window => "window",
            Self::Evidence => "evidence",
        }
    }

    /// The kind with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let all = [
            Self::Working,
            Self::Summary,
            Self::FactOfUser,
            Self::FactOfAgent,
            Self::FactOfTenant,
            Self::Procedure,
            Self::Episode,
            Self::Insight,
            Self::Guess,
            Self::Cleared,
            Self::Quote,
            Self::Window,
            Self::Evidence,
        ];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

impl BuildRow {
    /// The rows of what was found for a request; `selected` says which ids went into the packet.
    #[must_use]
    pub fn collect_rows(
        request: &PacketRequest,
        found: &Candidates,
        selected: impl Fn(BuildRowKind, &str) -> bool,
    ) -> Vec<Self> {
        let mut rows = Vec::new();
        let mut add = |kind: BuildRowKind, id: &str, revision: u64, score: RelevanceScore| {
            let (id, selected) = (id.to_owned(), selected(kind, id));
            rows.push(Self { kind, id, revision, score, selected });
        };
        if let Some(working) = &found.working {
            let version = working.state.state_version;
            add(BuildRowKind::Working, request.scope.run(), version, RelevanceScore::default());
        }
        if let Some(summary) = &found.summary {
            let revision = summary.revision.into();
            add(
                BuildRowKind::Summary,
                request.scope.session(),
                revision,
                RelevanceScore::default(),
            );
        }
        for one in &found.facts {
            let kind = match one.row.level {
                ScopeLevel::User => BuildRowKind::FactOfUser,
                ScopeLevel::Agent => BuildRowKind::FactOfAgent,
                ScopeLevel::Tenant => BuildRowKind::FactOfTenant,
            };
            add(kind, &one.row.id, one.row.revision.into(), one.score.clone());
        }
        for one in &found.procedures {
            add(BuildRowKind::Procedure, &one.row.id, one.row.revision.into(), one.score.clone());
        }
        for one in &found.episodes {
            add(BuildRowKind::Episode, &one.row.id, one.row.revision.into(), one.score.clone());
        }
        for one in &found.insights {
            add(BuildRowKind::Insight, &one.row.id, one.row.revision.into(), one.score.clone());
        }
        for row in &found.guesses {
            add(BuildRowKind::Guess, &row.id, row.revision.into(), RelevanceScore::default());
        }
        for row in &found.cleared {
            add(BuildRowKind::Cleared, &row.id, row.revision.into(), RelevanceScore::default());
        }
        for one in &found.quotes {
            add(BuildRowKind::Quote, &one.row.id, 1, one.score.clone());
        }
        for MemoryEvent { id, .. } in &found.window {
            add(BuildRowKind::Window, id, 1, RelevanceScore::default());
        }
        for id in found.evidence.keys() {
            add(BuildRowKind::Evidence, id, 1, RelevanceScore::default());
        }
        rows
    }
}
