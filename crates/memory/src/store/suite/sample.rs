//! Rows that cases are made of.

use countersign_contracts::memory::insight::{InsightKind, Trigger, ValidationState};
use countersign_contracts::memory::long_term::{CompressionLevel, FactStatus, ScopeLevel};
use countersign_contracts::memory::meta::{Cues, Purpose};
use countersign_contracts::memory::short_term::WorkingState;
use countersign_core::run::Time;
use serde_json::{Map, Value};

use super::super::{Kept, Limits, Memory, MemoryError, NewEvent};
use crate::record::{
    Candidate, CandidateState, Claim, Episode, Evidence, Expiry, Fact, Insight, Origin, Procedure,
    Summary, Working,
};
use crate::rules::Assurance;
use crate::{Found, Request, Scope};

/// The moment at which cases begin.
pub const NOW: Time = Time(1_768_996_800_000);

const SOURCES: [&str; 13] = [
    include_str!("events.rs"),
    include_str!("states.rs"),
    include_str!("facts.rs"),
    include_str!("candidates.rs"),
    include_str!("finding.rs"),
    include_str!("similar.rs"),
    include_str!("builds.rs"),
    include_str!("packets.rs"),
    include_str!("sweeping.rs"),
    include_str!("ageing.rs"),
    include_str!("carrying.rs"),
    include_str!("forgetting.rs"),
    include_str!("isolation.rs"),
];

pub fn assert_complete(listed: &[&str]) {
    let begin = |source: &'static str| source.split("\npub async fn ").skip(1);
    let cases = SOURCES.into_iter().flat_map(begin);
    let cases: Vec<&str> = cases.filter_map(|case| case.split('(').next()).collect();
    assert_eq!(listed, cases);
}

pub fn scope() -> Scope {
    within("u", "s1", "r1")
}

pub fn within(user: &str, session: &str, run: &str) -> Scope {
    Scope::new("t", user, "a", session, run).unwrap()
}

pub fn said(scope: &Scope, id: &str, text: &str) -> NewEvent {
    NewEvent::said(scope.clone(), id, text, NOW)
}

pub async fn tell(memory: &dyn Memory, scope: &Scope, id: &str, text: &str) {
    memory.remember(vec![said(scope, id, text)]).await.unwrap();
}

pub fn fact(id: &str, key: &str, value: impl Into<Value>) -> Fact {
    Fact {
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

pub fn on(mut fact: Fact, event: &str, quote: Option<&str>) -> Fact {
    fact.evidence.push(Evidence { event: event.to_owned(), quote: quote.map(str::to_owned) });
    fact
}

pub fn episode(id: &str, summary: &str, sources: &[&str]) -> Episode {
    Episode {
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
        from: Vec::new(),
        into: None,
    }
}

pub fn procedure(id: &str, task_type: &str, step: &str) -> Procedure {
    let content = Map::from_iter([("steps".to_owned(), Value::from(vec![step.to_owned()]))]);
    Procedure {
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

pub fn insight(id: &str, run: &str, statement: &str) -> Insight {
    Insight {
        id: id.to_owned(),
        revision: 1,
        run: run.to_owned(),
        kind: InsightKind::Hypothesis,
        statement: statement.to_owned(),
        trigger: Trigger::Synthesis,
        confidence: 0.3,
        validation: ValidationState::Unvalidated,
        tests: Vec::new(),
        expires: Expiry::RunEnd,
        sources: Vec::new(),
        recorded_at: NOW,
    }
}

pub fn working(goal: &str) -> Working {
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
    Working { state, open_loops: Vec::new(), recorded_at: NOW }
}

pub fn summary(text: &str, quotes: &[&str]) -> Summary {
    let quotes = quotes.iter().map(|id| (*id).to_owned()).collect();
    Summary {
        revision: 1,
        text: text.to_owned(),
        quotes,
        sources: Vec::new(),
        by: None,
        upto: 1,
        recorded_at: NOW,
    }
}

pub fn candidate(id: &str, claim: Claim, origin: Origin) -> Candidate {
    let (id, state) = (id.to_owned(), CandidateState::Proposed);
    Candidate { id, revision: 1, origin, claim, state, recorded_at: NOW }
}

pub async fn keep(memory: &dyn Memory, scope: &Scope, claim: Claim) -> Result<Kept, MemoryError> {
    memory.keep(scope, claim, Origin::User, Assurance::Claimed, NOW).await
}

pub async fn keep_fact(memory: &dyn Memory, scope: &Scope, fact: Fact) -> Kept {
    keep(memory, scope, Claim::Fact(Box::new(fact))).await.unwrap()
}

pub fn ask(scope: &Scope, words: &str) -> Request {
    let cues = Cues {
        tags: None,
        entities: None,
        keywords: Some(vec![words.to_owned()]),
        time_range: None,
        extra: Map::new(),
    };
    Request {
        scope: scope.clone(),
        purpose: Purpose::Planner,
        task_type: None,
        cues: Some(cues),
        message: None,
        vector: None,
        budget: None,
        as_of: NOW,
    }
}

pub async fn found(memory: &dyn Memory, scope: &Scope, words: &str) -> Found {
    memory.found(&ask(scope, words), Limits::default()).await.unwrap()
}

/// The ids of the events that answer, best first.
pub async fn ids(memory: &dyn Memory, scope: &Scope, words: &str) -> Vec<String> {
    let hits = memory.search(&ask(scope, words), 10).await.unwrap();
    hits.into_iter().map(|hit| hit.row.id).collect()
}
