//! Memory records, packets, builds and erasure reports, as the API sends them.

use std::collections::BTreeMap;

use countersign_contract::patch::Patch;
use countersign_memory::ScoredRow;
use countersign_memory::record::{ClaimCandidate, MemoryClaim, MemoryEvent};
use countersign_memory::render::{RenderError, render_packet};
use countersign_memory::rules::ClaimOutcome;
use countersign_memory::store::{EraseReport, PacketBuild, compute_packet_digest};
use countersign_runtime::memory_context::{
    ComposedContext, IngestReport, IngestedItem, describe_claim_kind,
};
use countersign_shipped_contracts::memory::MemoryPacket;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The results of adding records to memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RememberResponse {
    /// The records that were stored.
    pub saved: Vec<SavedMemoryRow>,
    /// The records that the rules refused.
    pub refused: Vec<RefusedMemoryRow>,
}

/// A record that was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SavedMemoryRow {
    /// The kind of record.
    #[schema(example = "event")]
    pub kind: String,
    /// The id of the record.
    pub id: String,
    /// The revision of the record.
    pub revision: u64,
    /// The outcome: `added`, `supported`, `superseded`, `outdated` or `disputed`.
    #[schema(example = "added")]
    pub outcome: String,
    /// The ids of the related facts: those that the record supports, replaces, disputes, or is
    /// replaced by.
    pub related_ids: Vec<String>,
}

/// A record that the rules refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RefusedMemoryRow {
    /// The number of the record in the request, starting at 1. Null if there was only one.
    pub line: Option<usize>,
    /// The reason, in one sentence.
    pub message: String,
}

impl From<&IngestReport> for RememberResponse {
    fn from(account: &IngestReport) -> Self {
        let refused = account.refused.iter().map(|(line, message)| RefusedMemoryRow {
            line: (*line > 0).then_some(*line),
            message: message.clone(),
        });
        Self {
            saved: account.saved.iter().map(SavedMemoryRow::from).collect(),
            refused: refused.collect(),
        }
    }
}

impl From<&IngestedItem> for SavedMemoryRow {
    fn from(done: &IngestedItem) -> Self {
        let (word, others) = match &done.outcome {
            ClaimOutcome::Added => ("added", Vec::new()),
            ClaimOutcome::Supported(id) => ("supported", vec![id.clone()]),
            ClaimOutcome::Superseded(ids) => ("superseded", ids.clone()),
            ClaimOutcome::Outdated(id) => ("outdated", vec![id.clone()]),
            ClaimOutcome::Disputed(ids) => ("disputed", ids.clone()),
        };
        let (kind, id, revision) = (done.kind.to_owned(), done.id.clone(), done.revision);
        Self { kind, id, revision, outcome: word.to_owned(), related_ids: others }
    }
}

/// A claim that waits for a decision, or was decided.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MemoryCandidateView {
    /// The id of the candidate.
    pub id: String,
    /// The kind of the claimed record: `fact`, `episode`, `procedure` or `insight`.
    #[schema(example = "fact")]
    pub kind: &'static str,
    /// The origin of the claim, such as `model`.
    #[schema(value_type = String)]
    pub origin: Value,
    /// The claimed record, as it would be stored.
    #[schema(value_type = Object)]
    pub claim: Value,
    /// The decision: `status` is `proposed`, `promoted` (with the `id` of the record) or `refused`
    /// (with the `reason`).
    #[schema(value_type = Object)]
    pub state: Value,
    /// When the candidate was proposed or decided, in Unix milliseconds.
    pub recorded_at: i64,
}

impl From<&ClaimCandidate> for MemoryCandidateView {
    fn from(candidate: &ClaimCandidate) -> Self {
        let ClaimCandidate { id, origin, claim, state, recorded_at, .. } = candidate;
        let kind = describe_claim_kind(claim);
        let claim = match claim {
            MemoryClaim::Fact(fact) => json!(fact),
            MemoryClaim::Episode(episode) => json!(episode),
            MemoryClaim::Procedure(procedure) => json!(procedure),
            MemoryClaim::Insight(insight) => json!(insight),
        };
        let (id, origin, state) = (id.clone(), json!(origin), json!(state));
        Self { id, kind, origin, claim, state, recorded_at: recorded_at.0 }
    }
}

/// A composed memory packet.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PacketView {
    /// The id of the build that explains the packet.
    pub build: String,
    /// The digest of the packet.
    pub digest: String,
    /// The estimated number of tokens of the text.
    pub tokens: u64,
    /// The text to put into the prompt.
    pub text: String,
    /// The packet as structured data.
    #[schema(value_type = Object)]
    pub packet: MemoryPacket,
}

impl From<&ComposedContext> for PacketView {
    fn from(made: &ComposedContext) -> Self {
        let ComposedContext { build, digest, text, packet } = made.clone();
        Self { build, digest, tokens: packet.budget_report.used_tokens_est, text, packet }
    }
}

/// An event that matches a search.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MemorySearchHit {
    /// The id of the event.
    pub id: String,
    /// The session the event belongs to.
    pub session: String,
    /// The run the event belongs to.
    pub run: String,
    /// When the event happened, in Unix milliseconds.
    pub ts: i64,
    /// Who spoke: `user`, `assistant` or `tool`.
    pub role: Value,
    /// The kind of event, such as `message`.
    pub kind: Value,
    /// The origin of the event, such as `user` or `model`.
    pub origin: Value,
    /// The name of the speaker. Null if it is unknown.
    pub speaker: Option<String>,
    /// The text of the event.
    pub text: String,
    /// The score of the match, in millionths.
    pub score: i64,
    /// The components of the score by name, in millionths.
    pub parts: BTreeMap<String, i64>,
}

impl From<&ScoredRow<MemoryEvent>> for MemorySearchHit {
    fn from(one: &ScoredRow<MemoryEvent>) -> Self {
        let MemoryEvent { id, scope, ts, role, kind, origin, speaker, text, .. } = &one.row;
        Self {
            id: id.clone(),
            session: scope.session().to_owned(),
            run: scope.run().to_owned(),
            ts: ts.0,
            role: json!(role),
            kind: json!(kind),
            origin: json!(origin),
            speaker: speaker.clone(),
            text: text.clone(),
            score: one.score.total,
            parts: one.score.parts.clone(),
        }
    }
}

/// The explanation of a packet build: what it contains and why, and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BuildExplanation {
    /// The id of the build.
    pub build: String,
    /// The request that the packet was composed for.
    #[schema(value_type = Object)]
    pub request: Value,
    /// The complete memory policy.
    #[schema(value_type = Object)]
    pub policy: Value,
    /// The tokenizer that counted the tokens.
    pub tokenizer: String,
    /// The digest of the packet at the time of the build.
    pub digest: String,
    /// Whether composing the packet again gives the same bytes.
    pub identical: bool,
    /// The cost of each section, and what was dropped to fit the budget.
    #[schema(value_type = Object)]
    pub budget_report: Value,
    /// What the packet contains and by which rule, and what was left out and why.
    #[schema(value_type = Object)]
    pub explain: Value,
    /// Every record that was considered.
    #[schema(value_type = Vec<Object>)]
    pub rows: Value,
    /// The packet as structured data, with the texts of its items.
    #[schema(value_type = Object)]
    pub packet: MemoryPacket,
}

impl BuildExplanation {
    /// Builds the explanation from a build and the packet that it gives now.
    #[must_use]
    pub fn from_build(build: &PacketBuild, packet: &MemoryPacket) -> Self {
        Self {
            build: build.id.clone(),
            request: json!(build.request),
            policy: build.policy.clone(),
            tokenizer: build.tokenizer.clone(),
            digest: build.digest.clone(),
            identical: compute_packet_digest(packet) == build.digest,
            budget_report: json!(packet.budget_report),
            explain: json!(packet.explain),
            rows: json!(build.rows),
            packet: packet.clone(),
        }
    }
}

/// The result of replaying a packet build.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BuildReplay {
    /// The id of the build.
    pub build: String,
    /// Whether the replay gave the same bytes.
    pub identical: bool,
    /// The digest of the packet at the time of the build.
    pub digest: String,
    /// The size of the packet in bytes, if it is the same. Null otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The digest of the replayed packet, if it differs. Null otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_digest: Option<String>,
    /// The other policy. Null if the request named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The packet under the other policy. Null if the request named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternative: Option<AlternativePacket>,
    /// The difference between the packets, as an RFC 6902 patch. Null if the request named no other
    /// policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub diff: Option<Value>,
}

/// A packet that was composed under another policy.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AlternativePacket {
    /// The digest of the packet.
    pub digest: String,
    /// The packet as structured data.
    #[schema(value_type = Object)]
    pub packet: MemoryPacket,
    /// The text to put into the prompt.
    pub text: String,
}

impl BuildReplay {
    /// Builds the result of a replay that gave the same bytes.
    #[must_use]
    pub fn new_identical(build: &PacketBuild, bytes: usize) -> Self {
        Self { bytes: Some(bytes), ..Self::new(build, true) }
    }

    /// Builds the result of a replay that gave other bytes.
    #[must_use]
    pub fn new_changed(build: &PacketBuild, now: String) -> Self {
        Self { replay_digest: Some(now), ..Self::new(build, false) }
    }

    /// Builds the comparison with another policy.
    ///
    /// # Errors
    /// When the other packet cannot be rendered as text.
    pub fn new_under_policy(
        build: &PacketBuild,
        before: &MemoryPacket,
        after: &MemoryPacket,
        policy: &str,
    ) -> Result<Self, RenderError> {
        let text = render_packet(after, after.meta.purpose)?;
        let (digest, packet) = (compute_packet_digest(after), after.clone());
        Ok(Self {
            policy: Some(policy.to_owned()),
            alternative: Some(AlternativePacket { digest, packet, text }),
            diff: Some(json!(Patch::diff(&json!(before), &json!(after)))),
            ..Self::new(build, true)
        })
    }

    fn new(build: &PacketBuild, identical: bool) -> Self {
        Self {
            build: build.id.clone(),
            identical,
            digest: build.digest.clone(),
            bytes: None,
            replay_digest: None,
            policy: None,
            alternative: None,
            diff: None,
        }
    }
}

/// The result of erasing memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ForgetResponse {
    /// The number of erased rows by table.
    pub rows: BTreeMap<String, u64>,
    /// Ids of facts that remain because evidence of other users supports them too.
    pub shared: Vec<String>,
    /// The number of erased ids whose hash is kept, so that an import does not restore them.
    pub tombstones: u64,
}

impl From<EraseReport> for ForgetResponse {
    fn from(erased: EraseReport) -> Self {
        let EraseReport { rows, shared_facts: shared, tombstones, .. } = erased;
        Self { rows: rows.into_iter().collect(), shared, tombstones }
    }
}
