//! Random stores: rows of every kind in several scripts, some of them expired, disputed, doubled,
//! without evidence, or far too long.

use std::fmt;

use countersign_memory::policy::{CitationMarkerStyle, InjectionStrength, MemoryPolicy};
use countersign_memory::record::{
    EventLocation, FactEvidence, MemoryExpiry, MemoryOrigin, SpeakerRole,
};
use countersign_memory::{Candidates, PacketRequest};
use countersign_shipped_contracts::memory::insight::{InsightKind, InsightValidationState};
use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_shipped_contracts::memory::meta::{CueTimeRange, PacketPurpose, SectionBudgets};
use proptest::prelude::*;
use serde_json::{Value, json};
use testkit::SeededRng;

use super::rows::{
    DAY, NOW, asking, cited, episode, event, fact, insight, procedure, request, scored, summary,
    working,
};

const WORDS: [&str; 26] = [
    "price",
    "contract",
    "the",
    "Acme",
    "tea",
    "signed",
    "on",
    "delivery",
    "1.5",
    "days",
    "can't",
    "договор",
    "подписан",
    "цена",
    "合同价格",
    "付款期为三十天",
    "。",
    "계약",
    "가격은",
    "ราคา",
    "👩‍👩‍👧",
    "e-mail",
    "a/b",
    "/",
    "yes.",
    "No!\n",
];

/// A random store, and what is asked of it.
pub(crate) struct Store {
    pub(crate) request: PacketRequest,
    pub(crate) policy: MemoryPolicy,
    pub(crate) found: Candidates,
    pub(crate) sections: Option<SectionBudgets>,
    seed: u64,
    most: usize,
}

/// A failure is made again from these two; the rows would fill pages.
impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "store {} of {}", self.seed, self.most)
    }
}

impl Store {
    /// The same rows in another order.
    pub(crate) fn shuffled(&self) -> Self {
        fn shuffle<T>(list: &mut [T], chance: &mut SeededRng) {
            for last in (1..list.len()).rev() {
                list.swap(last, chance.next_below(last + 1));
            }
        }
        let mut chance = SeededRng::new(!self.seed);
        let mut found = self.found.clone();
        shuffle(&mut found.facts, &mut chance);
        shuffle(&mut found.procedures, &mut chance);
        shuffle(&mut found.episodes, &mut chance);
        shuffle(&mut found.insights, &mut chance);
        shuffle(&mut found.withheld_insights, &mut chance);
        shuffle(&mut found.quotes, &mut chance);
        shuffle(&mut found.window, &mut chance);
        let (request, policy) = (self.request.clone(), self.policy.clone());
        Self { request, policy, found, sections: self.sections, seed: self.seed, most: self.most }
    }
}

/// Stores by seed and by the most rows of a kind.
pub(crate) fn store() -> impl Strategy<Value = Store> {
    (any::<u64>(), 0_usize..8).prop_map(|(seed, most)| make(seed, most))
}

fn make(seed: u64, most: usize) -> Store {
    let mut chance = SeededRng::new(seed);
    let chance = &mut chance;
    let policy = policy(chance);
    let mut found = Candidates::default();
    for number in 0..chance.next_below(8) {
        let text = text(chance, 12);
        let mut cited = cited(&text);
        cited.ts = NOW.plus_millis(-(chance.next_below(100) as i64) * DAY);
        found.evidence.insert(format!("m{number}"), cited);
    }
    for number in 0..chance.next_below(2 * most + 1) {
        found.facts.push(scored(random_fact(chance, number), score(chance)));
    }
    for number in 0..chance.next_below(most / 2 + 1) {
        let steps: Vec<String> = (0..chance.next_below(6)).map(|_| text(chance, 30)).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let mut row = procedure(&format!("p{number}"), &steps);
        row.priority = chance.next_below(3) as i64;
        row.sources = sources(chance);
        if chance.roll_percent(20) {
            "other".clone_into(&mut row.task_type);
        }
        if chance.roll_percent(20) {
            row.applicability.insert("tags".to_owned(), json!(["urgent"]));
        }
        found.procedures.push(scored(row, score(chance)));
    }
    for number in 0..chance.next_below(most + 1) {
        found.episodes.push(scored(random_episode(chance, number), score(chance)));
    }
    for number in 0..chance.next_below(most + 1) {
        found.insights.push(scored(random_insight(chance, number), score(chance)));
    }
    for number in 0..chance.next_below(most / 2 + 1) {
        found.withheld_insights.push(random_insight(chance, number + 100));
    }
    for number in 0..chance.next_below(3 * most + 1) {
        let row = random_event(chance, number);
        if chance.roll_percent(10) {
            found.window.push(row.clone());
        }
        found.quotes.push(scored(row, score(chance)));
    }
    if chance.roll_percent(60) {
        let mut row = summary(&text(chance, 120));
        row.quotes =
            (0..chance.next_below(4)).map(|_| format!("q{}", chance.next_below(20))).collect();
        found.summary = Some(row);
    }
    if chance.roll_percent(70) {
        found.working_memory = Some(random_working(chance));
    }
    let sections = chance.roll_percent(15).then(|| {
        let mut tokens = || chance.next_below(500) as u64;
        SectionBudgets {
            working_state: tokens(),
            facts: tokens(),
            procedures: tokens(),
            short_term_summary: tokens(),
            episodes: tokens(),
            insights: tokens(),
        }
    });
    let request = random_request(chance);
    Store { request, policy, found, sections, seed, most }
}

fn policy(chance: &mut SeededRng) -> MemoryPolicy {
    let mut policy =
        MemoryPolicy::load_shipped(chance.pick_ref(&["default", "default", "recall"])).unwrap();
    if chance.roll_percent(30) {
        policy.matrix.planner.window = InjectionStrength::Weak;
        policy.matrix.responder.window = InjectionStrength::Medium;
    }
    if chance.roll_percent(30) {
        policy.matrix.responder.procedures = InjectionStrength::Weak;
        policy.matrix.responder.plan = InjectionStrength::Weak;
    }
    if chance.roll_percent(30) {
        policy.render.evidence = CitationMarkerStyle::Numbers;
    }
    if chance.roll_percent(30) {
        (policy.longest_item, policy.short_item) = (40, 6);
    }
    if chance.roll_percent(20) {
        (policy.candidates.total, policy.caps.facts) = (chance.next_below(30), 5);
    }
    policy.allow_in_responder = chance.roll_percent(50);
    policy
}

fn random_request(chance: &mut SeededRng) -> PacketRequest {
    let purpose =
        *chance.pick(&[PacketPurpose::Planner, PacketPurpose::Tool, PacketPurpose::Responder]);
    if chance.roll_percent(50) {
        return request(purpose);
    }
    let (keyword, other) = (*chance.pick(&WORDS), *chance.pick(&WORDS));
    let mut request = asking(purpose, &[keyword, other], &["Acme"], &["urgent"]);
    if chance.roll_percent(50) {
        request.message = Some(text(chance, 8));
    }
    if chance.roll_percent(20) {
        let range = CueTimeRange { start: Some("2025-12-01T00:00:00Z".to_owned()), end: None };
        request.cues.as_mut().unwrap().time_range = Some(range);
    }
    request
}

fn random_fact(chance: &mut SeededRng, number: usize) -> countersign_memory::record::MemoryFact {
    let value = match chance.next_below(10) {
        0 => json!(chance.next_below(1_000)),
        1 => Value::Null,
        2 => json!({ "a": text(chance, 10), "b": [1, text(chance, 20)] }),
        3 => json!(text(chance, 150)),
        _ => json!(text(chance, 15)),
    };
    let mut row = fact(&format!("f{number}"), &format!("key.{}", chance.next_below(12)), value);
    row.status = *chance.pick(&[
        FactStatus::Active,
        FactStatus::Active,
        FactStatus::Active,
        FactStatus::Disputed,
        FactStatus::Deprecated,
    ]);
    row.level =
        *chance.pick(&[ScopeLevel::User, ScopeLevel::User, ScopeLevel::Agent, ScopeLevel::Tenant]);
    let days = |chance: &mut SeededRng| NOW.plus_millis((chance.next_below(20) as i64 - 10) * DAY);
    row.valid_from = chance.roll_percent(20).then(|| days(chance));
    row.valid_to = chance.roll_percent(20).then(|| days(chance));
    row.preference = chance.roll_percent(20);
    row.confidence = chance.next_below(12) as f64 / 10.0;
    row.recorded_at = NOW.plus_millis(-(chance.next_below(5) as i64) * DAY);
    row.evidence =
        sources(chance).into_iter().map(|event| FactEvidence { event, quote: None }).collect();
    row.superseded_by = chance.roll_percent(10).then(|| format!("f{}", chance.next_below(10)));
    row
}

fn random_episode(
    chance: &mut SeededRng,
    number: usize,
) -> countersign_memory::record::MemoryEpisode {
    let long = if chance.roll_percent(20) { 150 } else { 20 };
    let days = if chance.roll_percent(60) { 7 } else { 120 };
    let days = chance.next_below(days) as i64;
    let mut row = episode(&format!("e{number}"), days, &text(chance, long));
    row.highlights = (0..chance.next_below(6)).map(|_| text(chance, 30)).collect();
    row.tags = if chance.roll_percent(30) { vec!["urgent".to_owned()] } else { vec![] };
    row.entities = if chance.roll_percent(30) { vec!["acme".to_owned()] } else { vec![] };
    row.sources = sources(chance);
    row
}

fn random_insight(
    chance: &mut SeededRng,
    number: usize,
) -> countersign_memory::record::MemoryInsight {
    let state = *chance.pick(&[
        InsightValidationState::Unvalidated,
        InsightValidationState::Testing,
        InsightValidationState::Validated,
        InsightValidationState::Rejected,
    ]);
    let mut row = insight(&format!("i{number}"), state, &text(chance, 40));
    row.kind =
        *chance.pick(&[InsightKind::Hypothesis, InsightKind::Strategy, InsightKind::Pattern]);
    row.confidence = chance.next_below(10) as f64 / 10.0;
    row.tests = (0..chance.next_below(3)).map(|_| text(chance, 10)).collect();
    chance.pick_ref(&["r", "r", "other"]).clone_into(&mut row.run);
    row.expires = match chance.next_below(3) {
        0 => MemoryExpiry::Until(NOW.plus_millis((chance.next_below(3) as i64 - 1) * DAY)),
        _ => MemoryExpiry::RunEnd,
    };
    row.sources = sources(chance);
    row
}

fn random_event(chance: &mut SeededRng, number: usize) -> countersign_memory::record::MemoryEvent {
    let long = if chance.roll_percent(10) { 150 } else { 20 };
    let mut row = event(&format!("q{number}"), number as u32, &text(chance, long));
    row.location = EventLocation { session: chance.next_below(3) as u32, position: number as u32 };
    row.ts =
        NOW.plus_millis(-(chance.next_below(4) as i64) * DAY - chance.next_below(1_000) as i64);
    row.role = *chance.pick(&[SpeakerRole::User, SpeakerRole::Assistant, SpeakerRole::Tool]);
    row.origin = *chance.pick(&[
        MemoryOrigin::User,
        MemoryOrigin::Model,
        MemoryOrigin::Web,
        MemoryOrigin::Imported,
    ]);
    row.speaker =
        chance.roll_percent(30).then(|| chance.pick_ref(&["Anna", "Иван", "tool"]).to_owned());
    row.expires = chance.roll_percent(10).then(|| MemoryExpiry::Until(NOW.plus_millis(-1)));
    row
}

fn random_working(chance: &mut SeededRng) -> countersign_memory::record::WorkingMemory {
    let texts = |chance: &mut SeededRng, most: usize, long: usize| -> Vec<String> {
        (0..chance.next_below(most)).map(|_| text(chance, long)).collect()
    };
    let steps: Vec<Value> = texts(chance, 8, 20)
        .into_iter()
        .map(|step| json!({ "step": step, "status": chance.pick_ref(&["todo", "in_progress", "done"]) }))
        .collect();
    let decisions: Vec<Value> = texts(chance, 8, 20)
        .into_iter()
        .map(|it| json!({ "statement": it, "evidence_id": format!("m{}", chance.next_below(10)) }))
        .collect();
    let evidence: Vec<Value> = texts(chance, 6, 20)
        .into_iter()
        .map(|it| json!({ "ref": format!("m{}", chance.next_below(10)), "summary": it }))
        .collect();
    let risks: Vec<Value> = texts(chance, 3, 20)
        .into_iter()
        .map(|it| json!({ "risk": it, "mitigation": "wait" }))
        .collect();
    let mut row = working(json!({
        "goal": text(chance, 10),
        "constraints": { "must_avoid": texts(chance, 4, 5) },
        "slots": { "client": text(chance, 4), "n": chance.next_below(9) },
        "plan": steps,
        "decisions": decisions,
        "tool_evidence": evidence,
        "risks": risks,
        "state_version": chance.next_below(9),
        "mood": text(chance, 5),
    }));
    let loops = texts(chance, 4, 20).into_iter().map(|question| {
        let status = chance.pick_ref(&["open", "open", "closed"]);
        let id = format!("m{}", chance.next_below(10));
        serde_json::from_value(json!({ "question": question, "status": status, "evidence_id": id }))
    });
    row.open_loops = loops.collect::<Result<_, _>>().unwrap();
    row
}

fn sources(chance: &mut SeededRng) -> Vec<String> {
    (0..chance.next_below(4)).map(|_| format!("m{}", chance.next_below(10))).collect()
}

/// Few values, so that ties are frequent.
fn score(chance: &mut SeededRng) -> i64 {
    chance.next_below(4) as i64 * 1_000_000
}

fn text(chance: &mut SeededRng, most: usize) -> String {
    let words: Vec<&str> = (0..chance.next_below(most + 1)).map(|_| *chance.pick(&WORDS)).collect();
    words.join(chance.pick_ref(&[" ", " ", " ", "", "\n"]))
}
