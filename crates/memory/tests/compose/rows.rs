//! Rows for tests of composing, with everything plain that a test does not speak of.

use countersign_contracts::memory::MemoryPacket;
use countersign_contracts::memory::insight::{InsightKind, Trigger, ValidationState};
use countersign_contracts::memory::long_term::{CompressionLevel, FactStatus, ScopeLevel};
use countersign_contracts::memory::meta::{Cues, Purpose};
use countersign_contracts::memory::short_term::WorkingState;
use countersign_core::contract::Contract;
use countersign_core::reply::{Context, Verdict};
use countersign_core::run::Time;
use countersign_memory::compose::compose;
use countersign_memory::policy::Policy;
use countersign_memory::record::{
    Episode, Event, EventKind, Evidence, Expiry, Fact, Insight, Origin, Place, Procedure, Role,
    Summary, Working,
};
use countersign_memory::tokens::TiktokenCounter;
use countersign_memory::{Asked, Cited, Found, Request, Scope, Score, Scored};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// 2026-01-21, noon.
pub(crate) const NOW: Time = Time(1_768_996_800_000);
pub(crate) const DAY: i64 = 86_400_000;

static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| {
    Arc::clone(countersign_contracts::registry().find("memory_packet_v1").unwrap())
});

/// What the contract has against a packet.
pub(crate) fn violations(packet: &MemoryPacket) -> Vec<String> {
    let value = serde_json::to_value(packet).unwrap();
    match CONTRACT.admit_value(&value, &Context::default()) {
        Verdict::Refused(violations) => violations
            .iter()
            .map(|it| format!("{} {} {}", it.pointer, it.code, it.message))
            .collect(),
        Verdict::Accepted(_) => Vec::new(),
    }
}

pub(crate) fn scope() -> Scope {
    Scope::new("t", "u", "a", "s", "r").unwrap()
}

pub(crate) fn request(purpose: Purpose) -> Request {
    Request {
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
    purpose: Purpose,
    keywords: &[&str],
    entities: &[&str],
    tags: &[&str],
) -> Request {
    let list = |list: &[&str]| Some(list.iter().map(|&it| it.to_owned()).collect());
    let mut request = request(purpose);
    request.cues = Some(Cues {
        tags: list(tags),
        entities: list(entities),
        keywords: list(keywords),
        time_range: None,
        extra: serde_json::Map::new(),
    });
    request
}

pub(crate) fn tokens(max_tokens: u64) -> Asked {
    Asked { max_tokens, per_section: None }
}

pub(crate) fn fact(id: &str, key: &str, value: impl Into<Value>) -> Fact {
    Fact {
        id: id.to_owned(),
        revision: 1,
        key: key.to_owned(),
        value: value.into(),
        status: FactStatus::Active,
        level: ScopeLevel::User,
        valid_from: None,
        valid_to: None,
        recorded_at: NOW.after(-DAY),
        confidence: 0.9,
        evidence: vec![Evidence { event: "m1".to_owned(), quote: None }],
        preference: false,
        tags: vec![],
        entities: vec![],
        notes: String::new(),
        superseded_by: None,
    }
}

pub(crate) fn procedure(id: &str, steps: &[&str]) -> Procedure {
    let content = json!({ "steps": steps });
    Procedure {
        id: id.to_owned(),
        revision: 1,
        task_type: "contract".to_owned(),
        content: content.as_object().unwrap().clone(),
        priority: 0,
        usage: 0,
        sources: vec!["m1".to_owned()],
        applicability: serde_json::Map::new(),
        recorded_at: NOW.after(-DAY),
    }
}

pub(crate) fn episode(id: &str, days_ago: i64, summary: &str) -> Episode {
    let end = NOW.after(-days_ago * DAY);
    Episode {
        id: id.to_owned(),
        revision: 1,
        start: end.after(-3_600_000),
        end,
        recorded_at: end,
        summary: summary.to_owned(),
        highlights: vec![],
        tags: vec![],
        entities: vec![],
        sources: vec!["m1".to_owned()],
        compression: CompressionLevel::Raw,
        from: Vec::new(),
        into: None,
    }
}

pub(crate) fn insight(id: &str, validation: ValidationState, statement: &str) -> Insight {
    Insight {
        id: id.to_owned(),
        revision: 1,
        run: "r".to_owned(),
        kind: InsightKind::Hypothesis,
        statement: statement.to_owned(),
        trigger: Trigger::Synthesis,
        confidence: 0.3,
        validation,
        tests: vec![],
        expires: Expiry::RunEnd,
        sources: vec!["m1".to_owned()],
        recorded_at: NOW.after(-DAY),
    }
}

pub(crate) fn event(id: &str, position: u32, text: &str) -> Event {
    let ts = NOW.after(-DAY + i64::from(position) * 60_000);
    Event {
        id: id.to_owned(),
        scope: scope(),
        place: Place { session: 1, position },
        ts,
        recorded_at: ts,
        role: Role::User,
        kind: EventKind::Message,
        origin: Origin::User,
        speaker: None,
        text: text.to_owned(),
        tags: vec![],
        entities: vec![],
        expires: None,
        seen_insights: vec![],
    }
}

pub(crate) fn summary(text: &str) -> Summary {
    let (text, quotes, sources) = (text.to_owned(), vec![], vec![]);
    Summary { revision: 1, text, quotes, sources, by: None, upto: 1, recorded_at: NOW }
}

pub(crate) fn working(state: Value) -> Working {
    let state: WorkingState = serde_json::from_value(state).unwrap();
    Working { state, open_loops: vec![], recorded_at: NOW }
}

pub(crate) fn cited(text: &str) -> Cited {
    Cited {
        kind: EventKind::Message,
        origin: Origin::User,
        ts: NOW.after(-DAY),
        text: text.to_owned(),
        seen_insights: vec![],
    }
}

pub(crate) fn scored<T>(row: T, total: i64) -> Scored<T> {
    Scored { row, score: Score { total, parts: std::collections::BTreeMap::new() } }
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

pub(crate) fn policy() -> Policy {
    Policy::shipped("default").unwrap()
}

#[track_caller]
pub(crate) fn composed(request: &Request, found: &Found) -> MemoryPacket {
    composed_by(request, &policy(), found)
}

#[track_caller]
pub(crate) fn composed_by(request: &Request, policy: &Policy, found: &Found) -> MemoryPacket {
    let packet = compose(request, policy, found, &TiktokenCounter::o200k()).unwrap();
    assert_eq!(violations(&packet), Vec::<String>::new());
    packet
}

pub(crate) fn with_facts(facts: Vec<Fact>) -> Found {
    let mut found =
        Found { facts: facts.into_iter().map(Scored::plain).collect(), ..Found::default() };
    found.evidence.insert("m1".to_owned(), cited("the price is 100"));
    found
}
