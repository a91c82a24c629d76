//! Rows for tests of composing, with everything plain that a test does not speak of.

use countersign_contract::Timestamp;
use countersign_contract::contract::Contract;
use countersign_contract::reply::{AdmissionVerdict, RuleContext};
use countersign_memory::compose::compose_packet;
use countersign_memory::policy::MemoryPolicy;
use countersign_memory::record::{
    EventLocation, FactEvidence, MemoryEpisode, MemoryEvent, MemoryEventKind, MemoryExpiry,
    MemoryFact, MemoryInsight, MemoryOrigin, MemoryProcedure, SessionSummary, SpeakerRole,
    WorkingMemory,
};
use countersign_memory::tokens::TiktokenCounter;
use countersign_memory::{
    BudgetOverride, Candidates, CitedEvent, MemoryScope, PacketRequest, RelevanceScore, ScoredRow,
};
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::insight::{
    InsightKind, InsightTrigger, InsightValidationState,
};
use countersign_shipped_contracts::memory::long_term::{CompressionLevel, FactStatus, ScopeLevel};
use countersign_shipped_contracts::memory::meta::{PacketCues, PacketPurpose};
use countersign_shipped_contracts::memory::short_term::WorkingState;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// 2026-01-21, noon.
pub(crate) const NOW: Timestamp = Timestamp(1_768_996_800_000);
pub(crate) const DAY: i64 = 86_400_000;

static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| {
    Arc::clone(
        countersign_shipped_contracts::load_shipped_contracts().find("memory_packet_v1").unwrap(),
    )
});

/// What the contract has against a packet.
pub(crate) fn violations(packet: &MemoryPacket) -> Vec<String> {
    let value = serde_json::to_value(packet).unwrap();
    match CONTRACT.admit_value(&value, &RuleContext::default()) {
        AdmissionVerdict::Refused(violations) => violations
            .iter()
            .map(|it| format!("{} {} {}", it.pointer, it.code, it.message))
            .collect(),
        AdmissionVerdict::Accepted(_) => Vec::new(),
    }
}

pub(crate) fn scope() -> MemoryScope {
    MemoryScope::new("t", "u", "a", "s", "r").unwrap()
}

pub(crate) fn request(purpose: PacketPurpose) -> PacketRequest {
    PacketRequest {
        scope: scope(),
        purpose,
        task_type: Some("contract".to_owned()),
        cues: None,
        message: None,
        vector: None,
        budget: None,
        as_of: NOW,
    }
}

pub(crate) fn asking(
    purpose: PacketPurpose,
    keywords: &[&str],
    entities: &[&str],
    tags: &[&str],
) -> PacketRequest {
    let list = |list: &[&str]| Some(list.iter().map(|&it| it.to_owned()).collect());
    let mut request = request(purpose);
    request.cues = Some(PacketCues {
        tags: list(tags),
        entities: list(entities),
        keywords: list(keywords),
        time_range: None,
        extra: serde_json::Map::new(),
    });
    request
}

pub(crate) fn tokens(max_tokens: u64) -> BudgetOverride {
    BudgetOverride { max_tokens, per_section: None }
}

pub(crate) fn fact(id: &str, key: &str, value: impl Into<Value>) -> MemoryFact {
    MemoryFact {
        id: id.to_owned(),
        revision: 1,
        key: key.to_owned(),
        value: value.into(),
        status: FactStatus::Active,
        level: ScopeLevel::User,
        valid_from: None,
        valid_to: None,
        recorded_at: NOW.plus_millis(-DAY),
        confidence: 0.9,
        evidence: vec![FactEvidence { event: "m1".to_owned(), quote: None }],
        preference: false,
        tags: vec![],
        entities: vec![],
        notes: String::new(),
        superseded_by: None,
    }
}

pub(crate) fn procedure(id: &str, steps: &[&str]) -> MemoryProcedure {
    let content = json!({ "steps": steps });
    MemoryProcedure {
        id: id.to_owned(),
        revision: 1,
        task_type: "contract".to_owned(),
        content: content.as_object().unwrap().clone(),
        priority: 0,
        usage: 0,
        sources: vec!["m1".to_owned()],
        applicability: serde_json::Map::new(),
        recorded_at: NOW.plus_millis(-DAY),
    }
}

pub(crate) fn episode(id: &str, days_ago: i64, summary: &str) -> MemoryEpisode {
    let end = NOW.plus_millis(-days_ago * DAY);
    MemoryEpisode {
        id: id.to_owned(),
        revision: 1,
        start: end.plus_millis(-3_600_000),
        end,
        recorded_at: end,
        summary: summary.to_owned(),
        highlights: vec![],
        tags: vec![],
        entities: vec![],
        sources: vec!["m1".to_owned()],
        compression: CompressionLevel::Raw,
        merged_from: Vec::new(),
        merged_into: None,
    }
}

pub(crate) fn insight(
    id: &str,
    validation: InsightValidationState,
    statement: &str,
) -> MemoryInsight {
    MemoryInsight {
        id: id.to_owned(),
        revision: 1,
        run: "r".to_owned(),
        kind: InsightKind::Hypothesis,
        statement: statement.to_owned(),
        trigger: InsightTrigger::Synthesis,
        confidence: 0.3,
        validation,
        tests: vec![],
        expires: MemoryExpiry::RunEnd,
        sources: vec!["m1".to_owned()],
        recorded_at: NOW.plus_millis(-DAY),
    }
}

pub(crate) fn event(id: &str, position: u32, text: &str) -> MemoryEvent {
    let ts = NOW.plus_millis(-DAY + i64::from(position) * 60_000);
    MemoryEvent {
        id: id.to_owned(),
        scope: scope(),
        location: EventLocation { session: 1, position },
        ts,
        recorded_at: ts,
        role: SpeakerRole::User,
        kind: MemoryEventKind::Message,
        origin: MemoryOrigin::User,
        speaker: None,
        text: text.to_owned(),
        tags: vec![],
        entities: vec![],
        expires: None,
        seen_insights: vec![],
    }
}

pub(crate) fn summary(text: &str) -> SessionSummary {
    let (text, quotes, sources) = (text.to_owned(), vec![], vec![]);
    SessionSummary {
        revision: 1,
        text,
        quotes,
        sources,
        written_by: None,
        covered_position: 1,
        recorded_at: NOW,
    }
}

pub(crate) fn working(state: Value) -> WorkingMemory {
    let state: WorkingState = serde_json::from_value(state).unwrap();
    WorkingMemory { state, open_loops: vec![], recorded_at: NOW }
}

pub(crate) fn cited(text: &str) -> CitedEvent {
    CitedEvent {
        kind: MemoryEventKind::Message,
        origin: MemoryOrigin::User,
        ts: NOW.plus_millis(-DAY),
        text: text.to_owned(),
        seen_insights: vec![],
    }
}

pub(crate) fn scored<T>(row: T, total: i64) -> ScoredRow<T> {
    ScoredRow { row, score: RelevanceScore { total, ..RelevanceScore::default() } }
}

/// The reason an item stayed out.
pub(crate) fn reason(packet: &MemoryPacket, item: &str) -> Option<String> {
    packet.explain.omitted.iter().find(|it| it.item == item).map(|it| it.reason.clone())
}

pub(crate) fn facts(packet: &MemoryPacket) -> Vec<&str> {
    packet.long_term.facts.iter().map(|it| it.fact_id.as_str()).collect()
}

pub(crate) fn episodes(packet: &MemoryPacket) -> Vec<&str> {
    packet.long_term.episodes.iter().map(|it| it.episode_id.as_str()).collect()
}

pub(crate) fn quotes(packet: &MemoryPacket) -> Vec<&str> {
    packet.short_term.key_quotes.iter().flatten().map(|it| it.evidence_id.as_str()).collect()
}

pub(crate) fn policy() -> MemoryPolicy {
    MemoryPolicy::load_shipped("default").unwrap()
}

#[track_caller]
pub(crate) fn composed(request: &PacketRequest, found: &Candidates) -> MemoryPacket {
    composed_by(request, &policy(), found)
}

#[track_caller]
pub(crate) fn composed_by(
    request: &PacketRequest,
    policy: &MemoryPolicy,
    found: &Candidates,
) -> MemoryPacket {
    let packet = compose_packet(request, policy, found, &TiktokenCounter::o200k()).unwrap();
    assert_eq!(violations(&packet), Vec::<String>::new());
    packet
}

pub(crate) fn with_facts(facts: Vec<MemoryFact>) -> Candidates {
    let mut found = Candidates {
        facts: facts.into_iter().map(ScoredRow::from_row).collect(),
        ..Candidates::default()
    };
    found.evidence.insert("m1".to_owned(), cited("the price is 100"));
    found
}
