//! Random stores: rows of every kind in several scripts, some of them expired, disputed, doubled,
//! without evidence, or far too long.

use std::fmt;

use countersign_contracts::memory::insight::{InsightKind, ValidationState};
use countersign_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_contracts::memory::meta::{CueTimeRange, Purpose, SectionBudgets};
use countersign_memory::policy::{EvidenceMarks, Policy, Strength};
use countersign_memory::record::{Evidence, Expiry, Origin, Place, Role};
use countersign_memory::{Found, Request};
use proptest::prelude::*;
use serde_json::{Value, json};
use testkit::Chance;

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
    pub(crate) request: Request,
    pub(crate) policy: Policy,
    pub(crate) found: Found,
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
        fn shuffle<T>(list: &mut [T], chance: &mut Chance) {
            for last in (1..list.len()).rev() {
                list.swap(last, chance.below(last + 1));
            }
        }
        let mut chance = Chance::new(!self.seed);
        let mut found = self.found.clone();
        shuffle(&mut found.facts, &mut chance);
        shuffle(&mut found.procedures, &mut chance);
        shuffle(&mut found.episodes, &mut chance);
        shuffle(&mut found.insights, &mut chance);
        shuffle(&mut found.guesses, &mut chance);
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
    let mut chance = Chance::new(seed);
    let chance = &mut chance;
    let policy = policy(chance);
    let mut found = Found::default();
    for number in 0..chance.below(8) {
        let text = text(chance, 12);
        let mut cited = cited(&text);
        cited.ts = NOW.after(-(chance.below(100) as i64) * DAY);
        found.evidence.insert(format!("m{number}"), cited);
    }
    for number in 0..chance.below(2 * most + 1) {
        found.facts.push(scored(random_fact(chance, number), score(chance)));
    }
    for number in 0..chance.below(most / 2 + 1) {
        let steps: Vec<String> = (0..chance.below(6)).map(|_| text(chance, 30)).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let mut row = procedure(&format!("p{number}"), &steps);
        row.priority = chance.below(3) as i64;
        row.sources = sources(chance);
        if chance.percent(20) {
            "other".clone_into(&mut row.task_type);
        }
        if chance.percent(20) {
            row.applicability.insert("tags".to_owned(), json!(["urgent"]));
        }
        found.procedures.push(scored(row, score(chance)));
    }
    for number in 0..chance.below(most + 1) {
        found.episodes.push(scored(random_episode(chance, number), score(chance)));
    }
    for number in 0..chance.below(most + 1) {
        found.insights.push(scored(random_insight(chance, number), score(chance)));
    }
    for number in 0..chance.below(most / 2 + 1) {
        found.guesses.push(random_insight(chance, number + 100));
    }
    for number in 0..chance.below(3 * most + 1) {
        let row = random_event(chance, number);
        if chance.percent(10) {
            found.window.push(row.clone());
        }
        found.quotes.push(scored(row, score(chance)));
    }
    if chance.percent(60) {
        let mut row = summary(&text(chance, 120));
        row.quotes = (0..chance.below(4)).map(|_| format!("q{}", chance.below(20))).collect();
        found.summary = Some(row);
    }
    if chance.percent(70) {
        found.working = Some(random_working(chance));
    }
    let sections = chance.percent(15).then(|| {
        let mut tokens = || chance.below(500) as u64;
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

fn policy(chance: &mut Chance) -> Policy {
    let mut policy = Policy::shipped(chance.one_of(&["default", "default", "recall"])).unwrap();
    if chance.percent(30) {
        policy.matrix.planner.window = Strength::Weak;
        policy.matrix.responder.window = Strength::Medium;
    }
    if chance.percent(30) {
        policy.matrix.responder.procedures = Strength::Weak;
        policy.matrix.responder.plan = Strength::Weak;
    }
    if chance.percent(30) {
        policy.render.evidence = EvidenceMarks::Numbers;
    }
    if chance.percent(30) {
        (policy.longest_item, policy.short_item) = (40, 6);
    }
    if chance.percent(20) {
        (policy.candidates.all, policy.caps.facts) = (chance.below(30), 5);
    }
    policy.allow_in_responder = chance.percent(50);
    policy
}

fn random_request(chance: &mut Chance) -> Request {
    let purpose = *chance.pick(&[Purpose::Planner, Purpose::Tool, Purpose::Responder]);
    if chance.percent(50) {
        return request(purpose);
    }
    let (keyword, other) = (*chance.pick(&WORDS), *chance.pick(&WORDS));
    let mut request = asking(purpose, &[keyword, other], &["Acme"], &["urgent"]);
    if chance.percent(50) {
        request.message = Some(text(chance, 8));
    }
    if chance.percent(20) {
        let range = CueTimeRange { start: Some("2025-12-01T00:00:00Z".to_owned()), end: None };
        request.cues.as_mut().unwrap().time_range = Some(range);
    }
    request
}

fn random_fact(chance: &mut Chance, number: usize) -> countersign_memory::record::Fact {
    let value = match chance.below(10) {
        0 => json!(chance.below(1_000)),
        1 => Value::Null,
        2 => json!({ "a": text(chance, 10), "b": [1, text(chance, 20)] }),
        3 => json!(text(chance, 150)),
        _ => json!(text(chance, 15)),
    };
    let mut row = fact(&format!("f{number}"), &format!("key.{}", chance.below(12)), value);
    row.status = *chance.pick(&[
        FactStatus::Active,
        FactStatus::Active,
        FactStatus::Active,
        FactStatus::Disputed,
        FactStatus::Deprecated,
    ]);
    row.level =
        *chance.pick(&[ScopeLevel::User, ScopeLevel::User, ScopeLevel::Agent, ScopeLevel::Tenant]);
    let days = |chance: &mut Chance| NOW.after((chance.below(20) as i64 - 10) * DAY);
    row.valid_from = chance.percent(20).then(|| days(chance));
    row.valid_to = chance.percent(20).then(|| days(chance));
    row.preference = chance.percent(20);
    row.confidence = chance.below(12) as f64 / 10.0;
    row.recorded_at = NOW.after(-(chance.below(5) as i64) * DAY);
    row.evidence =
        sources(chance).into_iter().map(|event| Evidence { event, quote: None }).collect();
    row.superseded_by = chance.percent(10).then(|| format!("f{}", chance.below(10)));
    row
}

fn random_episode(chance: &mut Chance, number: usize) -> countersign_memory::record::Episode {
    let long = if chance.percent(20) { 150 } else { 20 };
    let days = if chance.percent(60) { 7 } else { 120 };
    let days = chance.below(days) as i64;
    let mut row = episode(&format!("e{number}"), days, &text(chance, long));
    row.highlights = (0..chance.below(6)).map(|_| text(chance, 30)).collect();
    row.tags = if chance.percent(30) { vec!["urgent".to_owned()] } else { vec![] };
    row.entities = if chance.percent(30) { vec!["acme".to_owned()] } else { vec![] };
    row.sources = sources(chance);
    row
}

fn random_insight(chance: &mut Chance, number: usize) -> countersign_memory::record::Insight {
    let state = *chance.pick(&[
        ValidationState::Unvalidated,
        ValidationState::Testing,
        ValidationState::Validated,
        ValidationState::Rejected,
    ]);
    let mut row = insight(&format!("i{number}"), state, &text(chance, 40));
    row.kind =
        *chance.pick(&[InsightKind::Hypothesis, InsightKind::Strategy, InsightKind::Pattern]);
    row.confidence = chance.below(10) as f64 / 10.0;
    row.tests = (0..chance.below(3)).map(|_| text(chance, 10)).collect();
    chance.one_of(&["r", "r", "other"]).clone_into(&mut row.run);
    row.expires = match chance.below(3) {
        0 => Expiry::At(NOW.after((chance.below(3) as i64 - 1) * DAY)),
        _ => Expiry::RunEnd,
    };
    row.sources = sources(chance);
    row
}

fn random_event(chance: &mut Chance, number: usize) -> countersign_memory::record::Event {
    let long = if chance.percent(10) { 150 } else { 20 };
    let mut row = event(&format!("q{number}"), number as u32, &text(chance, long));
    row.place = Place { session: chance.below(3) as u32, position: number as u32 };
    row.ts = NOW.after(-(chance.below(4) as i64) * DAY - chance.below(1_000) as i64);
    row.role = *chance.pick(&[Role::User, Role::Assistant, Role::Tool]);
    row.origin = *chance.pick(&[Origin::User, Origin::Model, Origin::Web, Origin::Imported]);
    row.speaker = chance.percent(30).then(|| chance.one_of(&["Anna", "Иван", "tool"]).to_owned());
    row.expires = chance.percent(10).then(|| Expiry::At(NOW.after(-1)));
    row
}

fn random_working(chance: &mut Chance) -> countersign_memory::record::Working {
    let texts = |chance: &mut Chance, most: usize, long: usize| -> Vec<String> {
        (0..chance.below(most)).map(|_| text(chance, long)).collect()
    };
    let steps: Vec<Value> = texts(chance, 8, 20)
        .into_iter()
        .map(|step| json!({ "step": step, "status": chance.one_of(&["todo", "in_progress", "done"]) }))
        .collect();
    let decisions: Vec<Value> = texts(chance, 8, 20)
        .into_iter()
        .map(|it| json!({ "statement": it, "evidence_id": format!("m{}", chance.below(10)) }))
        .collect();
    let evidence: Vec<Value> = texts(chance, 6, 20)
        .into_iter()
        .map(|it| json!({ "ref": format!("m{}", chance.below(10)), "summary": it }))
        .collect();
    let risks: Vec<Value> = texts(chance, 3, 20)
        .into_iter()
        .map(|it| json!({ "risk": it, "mitigation": "wait" }))
        .collect();
    let mut row = working(json!({
        "goal": text(chance, 10),
        "constraints": { "must_avoid": texts(chance, 4, 5) },
        "slots": { "client": text(chance, 4), "n": chance.below(9) },
        "plan": steps,
        "decisions": decisions,
        "tool_evidence": evidence,
        "risks": risks,
        "state_version": chance.below(9),
        "mood": text(chance, 5),
    }));
    let loops = texts(chance, 4, 20).into_iter().map(|question| {
        let status = chance.one_of(&["open", "open", "closed"]);
        let id = format!("m{}", chance.below(10));
        serde_json::from_value(json!({ "question": question, "status": status, "evidence_id": id }))
    });
    row.open_loops = loops.collect::<Result<_, _>>().unwrap();
    row
}

fn sources(chance: &mut Chance) -> Vec<String> {
    (0..chance.below(4)).map(|_| format!("m{}", chance.below(10))).collect()
}

/// Few values, so that ties are frequent.
fn score(chance: &mut Chance) -> i64 {
    chance.below(4) as i64 * 1_000_000
}

fn text(chance: &mut Chance, most: usize) -> String {
    let words: Vec<&str> = (0..chance.below(most + 1)).map(|_| *chance.pick(&WORDS)).collect();
    words.join(chance.one_of(&[" ", " ", " ", "", "\n"]))
}
