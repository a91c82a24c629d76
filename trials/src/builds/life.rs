//! A memory that lives on by chance: something is said, learned, taken back or revised, and between that
//! packets are asked for.

use countersign_contracts::memory::insight::{InsightKind, Trigger, ValidationState};
use countersign_contracts::memory::long_term::{CompressionLevel, FactStatus, ScopeLevel};
use countersign_contracts::memory::meta::{Cues, Purpose};
use countersign_contracts::memory::short_term::WorkingState;
use countersign_core::run::Time;
use countersign_memory::record::{
    Claim, Episode, Evidence, Expiry, Fact, Insight, Origin, Procedure, Role, Summary, Working,
};
use countersign_memory::rules::Assurance;
use countersign_memory::store::{Memory, MemoryError, NewEvent, SqliteMemory};
use countersign_memory::{Asked, Request, Scope, ScopeError};
use serde_json::{Map, Value, json};
use testkit::Chance;

const WORDS: [&str; 36] = [
    "the",
    "a",
    "and",
    "with",
    "oven",
    "flight",
    "piano",
    "garden",
    "lawyer",
    "contract",
    "price",
    "doctor",
    "train",
    "Rome",
    "Lyon",
    "dinner",
    "school",
    "dog",
    "river",
    "paint",
    "договор",
    "цена",
    "поезд",
    "врач",
    "школа",
    "сад",
    "合同",
    "价格",
    "火车",
    "医生",
    "계약",
    "가격",
    "12",
    "2026",
    "e-mail",
    "👍",
];
const NAMES: [&str; 4] = ["Ann", "Ben", "Олег", "李明"];
const TAGS: [&str; 3] = ["urgent", "home", "money"];
const SESSIONS: usize = 12;
const DAY: usize = 86_400_000;

/// What happens, one thing after the other.
pub(crate) struct Life {
    chance: Chance,
    now: Time,
    events: usize,
    version: u64,
}

impl Life {
    pub(crate) fn new(seed: u64) -> Self {
        let now = Time(1_768_996_800_000);
        Self { chance: Chance::new(seed), now, events: 0, version: 0 }
    }

    /// Something happens.
    pub(crate) async fn happen(&mut self, memory: &SqliteMemory) -> Result<(), MemoryError> {
        self.now = self.now.after(self.chance.below(DAY / 50) as i64);
        let scope = self.scope()?;
        match self.chance.below(20) {
            0 => {
                let claim = Claim::Fact(Box::new(self.fact()));
                let assurance = *self.chance.pick(&[
                    Assurance::Claimed,
                    Assurance::Claimed,
                    Assurance::Confirmed,
                ]);
                memory.keep(&scope, claim, Origin::User, assurance, self.now).await?;
            }
            1 => self.keep(memory, &scope, Self::episode).await?,
            2 if self.chance.percent(30) => self.keep(memory, &scope, Self::procedure).await?,
            3 => self.keep(memory, &scope, Self::guess).await?,
            4 => {
                let working = self.working();
                self.version = memory.write_working(&scope, self.version, working).await?;
            }
            5 if self.events > 0 => {
                let (quotes, sources) = (self.sources(), self.sources());
                let (text, recorded_at) = (self.text(40), self.now);
                let by = None;
                let summary =
                    Summary { revision: 1, text, quotes, sources, by, upto: 0, recorded_at };
                memory.write_summary(&scope, summary).await?;
            }
            _ => {
                let event = self.event(scope);
                memory.remember(vec![event]).await?;
            }
        }
        Ok(())
    }

    /// A packet is asked for.
    pub(crate) fn ask(&mut self) -> Result<Request, ScopeError> {
        let chance = &mut self.chance;
        let cues = chance.percent(40).then(|| Cues {
            tags: Some(vec![chance.one_of(&TAGS).to_owned()]),
            entities: Some(vec![chance.one_of(&NAMES).to_owned()]),
            keywords: Some(vec![chance.one_of(&WORDS).to_owned()]),
            time_range: None,
            extra: Map::new(),
        });
        let tokens = chance.between(300, 4_000) as u64;
        let budget = chance.percent(50).then_some(Asked { max_tokens: tokens, per_section: None });
        let purpose = *chance.pick(&[Purpose::Planner, Purpose::Tool, Purpose::Responder]);
        let message = chance.percent(80).then(|| self.text(9));
        let (scope, as_of) = (self.scope()?, self.now);
        Ok(Request { scope, purpose, task_type: None, cues, message, vector: None, budget, as_of })
    }

    /// Keeps a claim that the rules may refuse: a guess of another run, a source that is not there.
    async fn keep(
        &mut self,
        memory: &SqliteMemory,
        scope: &Scope,
        claim: impl FnOnce(&mut Self) -> Claim,
    ) -> Result<(), MemoryError> {
        let claim = claim(self);
        memory.keep(scope, claim, Origin::User, Assurance::Claimed, self.now).await.map(|_| ())
    }

    fn scope(&mut self) -> Result<Scope, ScopeError> {
        Scope::new("t", "u", "a", format!("s{}", self.chance.below(SESSIONS)), "r")
    }

    fn event(&mut self, scope: Scope) -> NewEvent {
        self.events += 1;
        let text = if self.chance.percent(3) { self.text(250) } else { self.text(18) };
        let mut event = NewEvent::said(scope, format!("e{}", self.events), text, self.now);
        event.speaker = self.chance.percent(70).then(|| self.chance.one_of(&NAMES).to_owned());
        if self.chance.percent(30) {
            (event.role, event.origin) = (Role::Assistant, Origin::Model);
        }
        event
    }

    fn fact(&mut self) -> Fact {
        let sources = self.sources();
        let value = match self.chance.below(4) {
            0 => json!(self.chance.below(100)),
            1 => json!({ "a": self.text(4), "b": [self.text(3)] }),
            _ => json!(self.text(8)),
        };
        Fact {
            id: format!("f{}", self.chance.bits()),
            revision: 1,
            key: format!("key.{}", self.chance.below(60)),
            value,
            status: FactStatus::Active,
            level: *self.chance.pick(&[ScopeLevel::User, ScopeLevel::User, ScopeLevel::Tenant]),
            valid_from: self.chance.percent(60).then_some(self.now),
            valid_to: None,
            recorded_at: self.now,
            confidence: self.chance.below(11) as f64 / 10.0,
            evidence: sources.into_iter().map(|event| Evidence { event, quote: None }).collect(),
            preference: self.chance.percent(20),
            tags: self.chance.some(&TAGS, 0).into_iter().map(|tag| (*tag).to_owned()).collect(),
            entities: Vec::new(),
            notes: String::new(),
            superseded_by: None,
        }
    }

    fn episode(&mut self) -> Claim {
        let start = self.now.after(-(self.chance.below(40 * DAY) as i64));
        Claim::Episode(Box::new(Episode {
            id: format!("ep{}", self.chance.below(40)),
            revision: 1,
            start,
            end: start,
            recorded_at: self.now,
            summary: self.text(25),
            highlights: (0..self.chance.below(4)).map(|_| self.text(8)).collect(),
            tags: vec![self.chance.one_of(&TAGS).to_owned()],
            entities: vec![self.chance.one_of(&NAMES).to_owned()],
            sources: self.sources(),
            compression: CompressionLevel::Raw,
            from: Vec::new(),
            into: None,
        }))
    }

    fn procedure(&mut self) -> Claim {
        let steps: Vec<Value> = (0..3).map(|_| json!(self.text(10))).collect();
        Claim::Procedure(Box::new(Procedure {
            id: format!("p{}", self.chance.below(8)),
            revision: 1,
            task_type: "generic".to_owned(),
            content: Map::from_iter([("steps".to_owned(), json!(steps))]),
            priority: self.chance.below(3) as i64,
            usage: 0,
            sources: self.sources(),
            applicability: Map::new(),
            recorded_at: self.now,
        }))
    }

    fn guess(&mut self) -> Claim {
        Claim::Insight(Box::new(Insight {
            id: format!("i{}", self.chance.below(20)),
            revision: 1,
            run: "r".to_owned(),
            kind: InsightKind::Hypothesis,
            statement: self.text(10),
            trigger: Trigger::Synthesis,
            confidence: self.chance.below(11) as f64 / 10.0,
            validation: *self
                .chance
                .pick(&[ValidationState::Unvalidated, ValidationState::Validated]),
            tests: vec![self.text(4)],
            expires: Expiry::RunEnd,
            sources: self.sources(),
            recorded_at: self.now,
        }))
    }

    fn working(&mut self) -> Working {
        let state = WorkingState {
            goal: Some(self.text(6)),
            plan: None,
            slots: None,
            constraints: None,
            tool_evidence: None,
            decisions: None,
            risks: None,
            state_version: self.version,
            extra: Map::new(),
        };
        Working { state, open_loops: Vec::new(), recorded_at: self.now }
    }

    /// Events that are there.
    fn sources(&mut self) -> Vec<String> {
        let most = self.events.min(3);
        let many = self.chance.below(most + 1);
        (0..many).map(|_| format!("e{}", 1 + self.chance.below(self.events))).collect()
    }

    fn text(&mut self, most: usize) -> String {
        let many = self.chance.between(1, most);
        let words: Vec<&str> = (0..many).map(|_| self.chance.one_of(&WORDS)).collect();
        words.join(" ")
    }
}
