//! Packet builds: the request of a packet and every row that was considered for it.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::long_term::ScopeLevel;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::MemoryEvent;
use crate::{Candidates, PacketRequest, ReadTruncation, RelevanceScore};

/// A build: with its rows, everything that is needed to compose the packet again. The text of the
/// packet is not stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketBuild {
    /// The build id, unique within its subject.
    pub id: String,
    /// The request that the packet was composed for.
    pub request: PacketRequest,
    /// The whole policy as JSON.
    pub policy: Value,
    /// The name of the token counter.
    pub tokenizer: String,
    /// The digest of the packet.
    pub digest: String,
    /// The timestamp at which the packet was built.
    pub built_at: Timestamp,
    /// Every row that was considered.
    pub rows: Vec<BuildRow>,
    /// Reads that stopped at a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truncations: Vec<ReadTruncation>,
    /// The ids of the insights in the packet, and of those that the authors of its content had
    /// seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen_insights: Vec<String>,
}

/// A row that was considered for a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuildRow {
    /// The kind of row and the role it had.
    pub kind: BuildRowKind,
    /// The row id; for a working state its run, for a summary its session.
    pub id: String,
    /// The revision of the row; 1 for rows that never change.
    pub revision: u64,
    /// The relevance of the row to the request.
    pub score: RelevanceScore,
    /// Whether the row went into the packet.
    pub selected: bool,
}

/// The kind of a row in a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum BuildRowKind {
    WorkingMemory,
    Summary,
    UserFact,
    AgentFact,
    TenantFact,
    Procedure,
    Episode,
    Insight,
    /// An insight of another run, used to withhold text that repeats it.
    WithheldInsight,
    /// A validated insight that makes text written after it visible.
    ClearedInsight,
    Quote,
    Window,
    Evidence,
}

impl BuildRowKind {
    /// Returns the stored name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WorkingMemory => "working_memory",
            Self::Summary => "summary",
            Self::UserFact => "user_fact",
            Self::AgentFact => "agent_fact",
            Self::TenantFact => "tenant_fact",
            Self::Procedure => "procedure",
            Self::Episode => "episode",
            Self::Insight => "insight",
            Self::WithheldInsight => "withheld_insight",
            Self::ClearedInsight => "cleared_insight",
            Self::Quote => "quote",
            Self::Window => "window",
            Self::Evidence => "evidence",
        }
    }

    /// Returns the kind with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let all = [
            Self::WorkingMemory,
            Self::Summary,
            Self::UserFact,
            Self::AgentFact,
            Self::TenantFact,
            Self::Procedure,
            Self::Episode,
            Self::Insight,
            Self::WithheldInsight,
            Self::ClearedInsight,
            Self::Quote,
            Self::Window,
            Self::Evidence,
        ];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

impl BuildRow {
    /// Collects the rows that were retrieved for a request; `selected` returns whether an id went
    /// into the packet.
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
        if let Some(working) = &found.working_memory {
            let version = working.state.state_version;
            add(
                BuildRowKind::WorkingMemory,
                request.scope.run(),
                version,
                RelevanceScore::default(),
            );
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
                ScopeLevel::User => BuildRowKind::UserFact,
                ScopeLevel::Agent => BuildRowKind::AgentFact,
                ScopeLevel::Tenant => BuildRowKind::TenantFact,
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
        for row in &found.withheld_insights {
            add(
                BuildRowKind::WithheldInsight,
                &row.id,
                row.revision.into(),
                RelevanceScore::default(),
            );
        }
        for row in &found.cleared_insights {
            add(
                BuildRowKind::ClearedInsight,
                &row.id,
                row.revision.into(),
                RelevanceScore::default(),
            );
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
