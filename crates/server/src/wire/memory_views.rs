//! Memory as it is sent.

use std::collections::BTreeMap;

use countersign_contracts::memory::MemoryPacket;
use countersign_core::patch::Patch;
use countersign_memory::ScoredRow;
use countersign_memory::record::MemoryEvent;
use countersign_memory::render::{RenderError, render_packet};
use countersign_memory::rules::ClaimOutcome;
use countersign_memory::store::{EraseReport, PacketBuild, compute_packet_digest};
use countersign_runtime::memory_context::{ComposedContext, IngestReport, IngestedItem};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// What became of what was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RememberResponse {
    /// What is kept now.
    pub kept: Vec<SavedMemoryRow>,
    /// What the rules refused.
    pub refused: Vec<RefusedMemoryRow>,
}

/// Something that is kept now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SavedMemoryRow {
    /// What it is.
    #[schema(example = "event")]
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Its revision.
    pub revision: u64,
    /// `kept`, `supported`, `superseded`, `outdated` or `disputed`.
    #[schema(example = "kept")]
    pub outcome: String,
    /// The ids of those it stands beside, before or behind.
    pub others: Vec<String>,
}

/// Something that the rules refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RefusedMemoryRow {
    /// Which of several, from 1; null where there was one.
    pub line: Option<usize>,
    /// Why.
    pub message: String,
}

impl From<&IngestReport> for RememberResponse {
    fn from(account: &IngestReport) -> Self {
        let refused = account.refused.iter().map(|(line, message)| RefusedMemoryRow {
            line: (*line > 0).then_some(*line),
            message: message.clone(),
        });
        Self {
            kept: account.saved.iter().map(SavedMemoryRow::from).collect(),
            refused: refused.collect(),
        }
    }
}

impl From<&IngestedItem> for SavedMemoryRow {
    fn from(done: &IngestedItem) -> Self {
        let (word, others) = match &done.outcome {
            ClaimOutcome::Added => ("kept", Vec::new()),
            ClaimOutcome::Supported(id) => ("supported", vec![id.clone()]),
            ClaimOutcome::Superseded(ids) => ("superseded", ids.clone()),
            ClaimOutcome::Outdated(id) => ("outdated", vec![id.clone()]),
            ClaimOutcome::Disputed(ids) => ("disputed", ids.clone()),
        };
        let (kind, id, revision) = (done.kind.to_owned(), done.id.clone(), done.revision);
        Self { kind, id, revision, outcome: word.to_owned(), others }
    }
}

/// A packet of what is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PacketView {
    /// The build that explains it.
    pub build: String,
    /// The digest of the packet.
    pub digest: String,
    /// How many tokens its text is estimated at.
    pub tokens: u64,
    /// What goes into the prompt.
    pub text: String,
    /// The packet itself.
    #[schema(value_type = Object)]
    pub packet: MemoryPacket,
}

impl From<&ComposedContext> for PacketView {
    fn from(made: &ComposedContext) -> Self {
        let ComposedContext { build, digest, text, packet } = made.clone();
        Self { build, digest, tokens: packet.budget_report.used_tokens_est, text, packet }
    }
}

/// An event that answers a search.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MemorySearchHit {
    /// Its id.
    pub id: String,
    /// The session it belongs to.
    pub session: String,
    /// The run it belongs to.
    pub run: String,
    /// When it happened.
    pub ts: i64,
    /// Who spoke.
    pub role: Value,
    /// What it is.
    pub kind: Value,
    /// Where it came from.
    pub origin: Value,
    /// The name of whoever spoke.
    pub speaker: Option<String>,
    /// What was said.
    pub text: String,
    /// How well it answers, in millionths.
    pub score: i64,
    /// What the score is made of.
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

/// What is in a build and why, and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BuildExplanation {
    /// Its id.
    pub build: String,
    /// What was asked.
    #[schema(value_type = Object)]
    pub request: Value,
    /// The whole policy.
    #[schema(value_type = Object)]
    pub policy: Value,
    /// Who counted the tokens.
    pub tokenizer: String,
    /// The digest of the packet then.
    pub digest: String,
    /// Whether composing it again gives the same bytes.
    pub same: bool,
    /// What each section cost, and what gave way.
    #[schema(value_type = Object)]
    pub budget_report: Value,
    /// What is in and by which rule, what is not and why not.
    #[schema(value_type = Object)]
    pub explain: Value,
    /// Every row that was looked at.
    #[schema(value_type = Vec<Object>)]
    pub rows: Value,
}

impl BuildExplanation {
    /// A build, beside the packet that it gives now.
    #[must_use]
    pub fn from_build(build: &PacketBuild, packet: &MemoryPacket) -> Self {
        Self {
            build: build.id.clone(),
            request: json!(build.request),
            policy: build.policy.clone(),
            tokenizer: build.tokenizer.clone(),
            digest: build.digest.clone(),
            same: compute_packet_digest(packet) == build.digest,
            budget_report: json!(packet.budget_report),
            explain: json!(packet.explain),
            rows: json!(build.rows),
        }
    }
}

/// A build that was composed again.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BuildReplay {
    /// Its id.
    pub build: String,
    /// Whether that gave the same bytes.
    pub same: bool,
    /// The digest of then.
    pub digest: String,
    /// How many bytes, where they are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The digest of now, where they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// The other policy, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What that gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<AlternativePacket>,
    /// The difference of the packets, as an RFC 6902 patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pub difference: Option<Value>,
}

/// What another policy gives.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AlternativePacket {
    /// The digest of the packet.
    pub digest: String,
    /// The packet.
    #[schema(value_type = Object)]
    pub packet: MemoryPacket,
    /// What goes into the prompt.
    pub text: String,
}

impl BuildReplay {
    /// It gave the same bytes.
    #[must_use]
    pub fn new_identical(build: &PacketBuild, bytes: usize) -> Self {
        Self { bytes: Some(bytes), ..Self::new(build, true) }
    }

    /// It gave others.
    #[must_use]
    pub fn new_changed(build: &PacketBuild, now: String) -> Self {
        Self { now: Some(now), ..Self::new(build, false) }
    }

    /// What another policy makes different.
    ///
    /// # Errors
    /// Where the other packet cannot be written as text.
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
            other: Some(AlternativePacket { digest, packet, text }),
            difference: Some(json!(Patch::diff(&json!(before), &json!(after)))),
            ..Self::new(build, true)
        })
    }

    fn new(build: &PacketBuild, same: bool) -> Self {
        Self {
            build: build.id.clone(),
            same,
            digest: build.digest.clone(),
            bytes: None,
            now: None,
            policy: None,
            other: None,
            difference: None,
        }
    }
}

/// What was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ForgetResponse {
    /// How many rows, by table.
    pub rows: BTreeMap<String, u64>,
    /// Facts that others vouch for too, and that stay without them.
    pub shared: Vec<String>,
    /// Of how many ids a hash stays, so that nothing comes back.
    pub tombstones: u64,
}

impl From<EraseReport> for ForgetResponse {
    fn from(erased: EraseReport) -> Self {
        let EraseReport { rows, shared_facts: shared, tombstones, .. } = erased;
        Self { rows: rows.into_iter().collect(), shared, tombstones }
    }
}
