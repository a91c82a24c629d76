//! Sample rows for the cases.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::insight::{
    InsightKind, InsightTrigger, InsightValidationState,
};
use countersign_shipped_contracts::memory::long_term::{CompressionLevel, FactStatus, ScopeLevel};
use countersign_shipped_contracts::memory::meta::{PacketCues, PacketPurpose};
use countersign_shipped_contracts::memory::short_term::WorkingState;
use serde_json::{Map, Value};

use super::super::{ClaimReceipt, Memory, MemoryError, NewMemoryEvent, RetrievalLimits};
use crate::record::{
    CandidateState, ClaimCandidate, FactEvidence, MemoryClaim, MemoryEpisode, MemoryExpiry,
    MemoryFact, MemoryInsight, MemoryOrigin, MemoryProcedure, SessionSummary, WorkingMemory,
};
use crate::rules::ClaimAssurance;
use crate::{Candidates, MemoryScope, PacketRequest};

/// The timestamp at which cases begin, in Unix milliseconds.
pub const NOW: Timestamp = Timestamp(1_768_996_800_000);

const SOURCES: [&str; 13] = [
    include_str!("event_cases.rs"),
    include_str!("states.rs"),
    include_str!("fact_cases.rs"),
    include_str!("candidate_cases.rs"),
    include_str!("finding.rs"),
    include_str!("similarity_cases.rs"),
    include_str!("build_cases.rs"),
    include_str!("packets.rs"),
    include_str!("sweeping.rs"),
    include_str!("ageing_cases.rs"),
    include_str!("export_import_cases.rs"),
    include_str!("forgetting.rs"),
    include_str!("isolation.rs"),
];

pub fn assert_all_cases_listed(listed: &[&str]) {
    let begin = |source: &'static str| source.split("\npub async fn ").skip(1);
    let cases = SOURCES.into_iter().flat_map(begin);
    let cases: Vec<&str> = cases.filter_map(|case| case.split('(').next()).collect();
    assert_eq!(listed, cases);
}

pub fn scope() -> MemoryScope {
    build_scope("u", "s1", "r1")
}

pub fn build_scope(user: &str, session: &str, run: &str) -> MemoryScope {
    MemoryScope::new("t", user, "a", session, run).unwrap()
}

pub fn build_user_event(scope: &MemoryScope, id: &str, text: &str) -> NewMemoryEvent {
    NewMemoryEvent::from_user_message(scope.clone(), id, text, NOW)
}

pub async fn append_user_event(memory: &dyn Memory, scope: &MemoryScope, id: &str, text: &str) {
    memory.append_events(vec![build_user_event(scope, id, text)]).await.unwrap();
}

pub fn fact(id: &str, key: &str, value: impl Into<Value>) -> MemoryFact {
    MemoryFact {
        id: id.to_owned(),
        revision: 1,
        key: key.to_owned(),
        value: value.into(),
        status: FactStatus::Active,
        level: ScopeLevel::User,
        valid_from: None,
        valid_to: None,
        recorded_at: NOW,
        confidence: 0.5,
        evidence: Vec::new(),
        preference: false,
        tags: Vec::new(),
        entities: Vec::new(),
        notes: String::new(),
        superseded_by: None,
    }
}

pub fn with_evidence(mut fact: MemoryFact, event: &str, quote: Option<&str>) -> MemoryFact {
    fact.evidence.push(FactEvidence { event: event.to_owned(), quote: quote.map(str::to_owned) });
    fact
}

pub fn episode(id: &str, summary: &str, sources: &[&str]) -> MemoryEpisode {
    MemoryEpisode {
        id: id.to_owned(),
        revision: 1,
        start: NOW,
        end: NOW,
        recorded_at: NOW,
        summary: summary.to_owned(),
        highlights: Vec::new(),
        tags: Vec::new(),
        entities: Vec::new(),
        sources: sources.iter().map(|id| (*id).to_owned()).collect(),
        compression: CompressionLevel::Raw,
        merged_from: Vec::new(),
        merged_into: None,
    }
}

pub fn procedure(id: &str, task_type: &str, step: &str) -> MemoryProcedure {
    let content = Map::from_iter([("steps".to_owned(), Value::from(vec![step.to_owned()]))]);
    MemoryProcedure {
        id: id.to_owned(),
        revision: 1,
        task_type: task_type.to_owned(),
        content,
        priority: 1,
        usage: 0,
        sources: Vec::new(),
        applicability: Map::new(),
        recorded_at: NOW,
    }
}

pub fn insight(id: &str, run: &str, statement: &str) -> MemoryInsight {
    MemoryInsight {
        id: id.to_owned(),
        revision: 1,
        run: run.to_owned(),
        kind: InsightKind::Hypothesis,
        statement: statement.to_owned(),
        trigger: InsightTrigger::Synthesis,
        confidence: 0.3,
        validation: InsightValidationState::Unvalidated,
        tests: Vec::new(),
        expires: MemoryExpiry::RunEnd,
        sources: Vec::new(),
        recorded_at: NOW,
    }
}

pub fn working(goal: &str) -> WorkingMemory {
    let state = WorkingState {
        goal: Some(goal.to_owned()),
        plan: None,
        slots: None,
        constraints: None,
        tool_evidence: None,
        decisions: None,
        risks: None,
        state_version: 0,
        extra: Map::new(),
    };
    WorkingMemory { state, open_loops: Vec::new(), recorded_at: NOW }
}

pub fn summary(text: &str, quotes: &[&str]) -> SessionSummary {
    let quotes = quotes.iter().map(|id| (*id).to_owned()).collect();
    SessionSummary {
        revision: 1,
        text: text.to_owned(),
        quotes,
        sources: Vec::new(),
        written_by: None,
        covered_position: 1,
        recorded_at: NOW,
    }
}

pub fn candidate(id: &str, claim: MemoryClaim, origin: MemoryOrigin) -> ClaimCandidate {
    let (id, state) = (id.to_owned(), CandidateState::Proposed);
    ClaimCandidate { id, revision: 1, origin, claim, state, recorded_at: NOW }
}

pub async fn record_claim(
    memory: &dyn Memory,
    scope: &MemoryScope,
    claim: MemoryClaim,
) -> Result<ClaimReceipt, MemoryError> {
    memory.record_claim(scope, claim, MemoryOrigin::User, ClaimAssurance::Claimed, NOW).await
}

pub async fn record_fact(
    memory: &dyn Memory,
    scope: &MemoryScope,
    fact: MemoryFact,
) -> ClaimReceipt {
    record_claim(memory, scope, MemoryClaim::Fact(Box::new(fact))).await.unwrap()
}

pub fn build_request(scope: &MemoryScope, words: &str) -> PacketRequest {
    let cues = PacketCues {
        tags: None,
        entities: None,
        keywords: Some(vec![words.to_owned()]),
        time_range: None,
        extra: Map::new(),
    };
    PacketRequest {
        scope: scope.clone(),
        purpose: PacketPurpose::Planner,
        task_type: None,
        cues: Some(cues),
        message: None,
        vector: None,
        budget: None,
        as_of: NOW,
    }
}

pub async fn retrieve_candidates(
    memory: &dyn Memory,
    scope: &MemoryScope,
    words: &str,
) -> Candidates {
    memory
        .retrieve_candidates(&build_request(scope, words), RetrievalLimits::default())
        .await
        .unwrap()
}

/// Returns the ids of matching events, best first.
pub async fn search_ids(memory: &dyn Memory, scope: &MemoryScope, words: &str) -> Vec<String> {
    let hits = memory.search_events(&build_request(scope, words), 10).await.unwrap();
    hits.into_iter().map(|hit| hit.row.id).collect()
}
