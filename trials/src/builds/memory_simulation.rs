//! Simulates the life of a memory with random changes: items are recorded, learned, retracted or
//! revised, and packets are requested in between.

use countersign_memory::record::{
    FactEvidence, MemoryClaim, MemoryEpisode, MemoryExpiry, MemoryFact, MemoryInsight,
    MemoryOrigin, MemoryProcedure, SessionSummary, SpeakerRole, WorkingMemory,
};
use countersign_memory::rules::ClaimAssurance;
use countersign_memory::store::{MemoryError, MemoryWriter as _, NewMemoryEvent, SqliteMemory};
use countersign_memory::{BudgetOverride, MemoryScope, MemoryScopeError, PacketRequest};
use countersign_run::Timestamp;
use countersign_shipped_contracts::memory::insight::{
    InsightKind, InsightTrigger, InsightValidationState,
};
use countersign_shipped_contracts::memory::long_term::{CompressionLevel, FactStatus, ScopeLevel};
use countersign_shipped_contracts::memory::meta::{PacketCues, PacketPurpose};
use countersign_shipped_contracts::memory::short_term::WorkingState;
use serde_json::{Map, Value, json};
use testkit::SeededRng;

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

/// The state of the simulation.
pub(crate) struct MemorySimulation {
    rng: SeededRng,
    now: Timestamp,
    events: usize,
    version: u64,
}

impl MemorySimulation {
    pub(crate) fn new(seed: u64) -> Self {
        let now = Timestamp(1_768_996_800_000);
        Self { rng: SeededRng::new(seed), now, events: 0, version: 0 }
    }

    /// Applies one random change to the memory.
    pub(crate) async fn apply_random_change(
        &mut self,
        memory: &SqliteMemory,
    ) -> Result<(), MemoryError> {
        self.now = self.now.plus_millis(self.rng.next_below(DAY / 50) as i64);
        let scope = self.random_scope()?;
        match self.rng.next_below(20) {
            0 => {
                let claim = MemoryClaim::Fact(Box::new(self.random_fact()));
                let assurance = *self.rng.pick(&[
                    ClaimAssurance::Claimed,
                    ClaimAssurance::Claimed,
                    ClaimAssurance::Confirmed,
                ]);
                memory.record_claim(&scope, claim, MemoryOrigin::User, assurance, self.now).await?;
            }
            1 => self.submit_claim(memory, &scope, Self::random_episode).await?,
            2 if self.rng.roll_percent(30) => {
                self.submit_claim(memory, &scope, Self::random_procedure).await?;
            }
            3 => self.submit_claim(memory, &scope, Self::random_insight).await?,
            4 => {
                let working = self.random_working_state();
                self.version = memory.write_working_memory(&scope, self.version, working).await?;
            }
            5 if self.events > 0 => {
                let (quotes, sources) = (self.pick_sources(), self.pick_sources());
                let (text, recorded_at) = (self.random_text(40), self.now);
                let by = None;
                let summary = SessionSummary {
                    revision: 1,
                    text,
                    quotes,
                    sources,
                    written_by: by,
                    covered_position: 0,
                    recorded_at,
                };
                memory.write_summary(&scope, summary).await?;
            }
            _ => {
                let event = self.random_event(scope);
                memory.append_events(vec![event]).await?;
            }
        }
        Ok(())
    }

    /// Generates a random packet request.
    pub(crate) fn random_request(&mut self) -> Result<PacketRequest, MemoryScopeError> {
        let chance = &mut self.rng;
        let cues = chance.roll_percent(40).then(|| PacketCues {
            tags: Some(vec![chance.pick_ref(&TAGS).to_owned()]),
            entities: Some(vec![chance.pick_ref(&NAMES).to_owned()]),
            keywords: Some(vec![chance.pick_ref(&WORDS).to_owned()]),
            time_range: None,
            extra: Map::new(),
        });
        let tokens = chance.next_between(300, 4_000) as u64;
        let budget = chance
            .roll_percent(50)
            .then_some(BudgetOverride { max_tokens: tokens, per_section: None });
        let purpose =
            *chance.pick(&[PacketPurpose::Planner, PacketPurpose::Tool, PacketPurpose::Responder]);
        let message = chance.roll_percent(80).then(|| self.random_text(9));
        let (scope, as_of) = (self.random_scope()?, self.now);
        Ok(PacketRequest {
            scope,
            purpose,
            task_type: None,
            cues,
            message,
            vector: None,
            budget,
            as_of,
        })
    }

    /// Records a claim that the rules may refuse, such as an insight of another run or a missing
    /// source.
    async fn submit_claim(
        &mut self,
        memory: &SqliteMemory,
        scope: &MemoryScope,
        claim: impl FnOnce(&mut Self) -> MemoryClaim,
    ) -> Result<(), MemoryError> {
        let claim = claim(self);
        memory
            .record_claim(scope, claim, MemoryOrigin::User, ClaimAssurance::Claimed, self.now)
            .await
            .map(|_| ())
    }

    fn random_scope(&mut self) -> Result<MemoryScope, MemoryScopeError> {
        MemoryScope::new("t", "u", "a", format!("s{}", self.rng.next_below(SESSIONS)), "r")
    }

    fn random_event(&mut self, scope: MemoryScope) -> NewMemoryEvent {
        self.events += 1;
        let text =
            if self.rng.roll_percent(3) { self.random_text(250) } else { self.random_text(18) };
        let mut event =
            NewMemoryEvent::from_user_message(scope, format!("e{}", self.events), text, self.now);
        event.speaker = self.rng.roll_percent(70).then(|| self.rng.pick_ref(&NAMES).to_owned());
        if self.rng.roll_percent(30) {
            (event.role, event.origin) = (SpeakerRole::Assistant, MemoryOrigin::Model);
        }
        event
    }

    fn random_fact(&mut self) -> MemoryFact {
        let sources = self.pick_sources();
        let value = match self.rng.next_below(4) {
            0 => json!(self.rng.next_below(100)),
            1 => json!({ "a": self.random_text(4), "b": [self.random_text(3)] }),
            _ => json!(self.random_text(8)),
        };
        MemoryFact {
            id: format!("f{}", self.rng.next_u64()),
            revision: 1,
            key: format!("key.{}", self.rng.next_below(60)),
            value,
            status: FactStatus::Active,
            level: *self.rng.pick(&[ScopeLevel::User, ScopeLevel::User, ScopeLevel::Tenant]),
            valid_from: self.rng.roll_percent(60).then_some(self.now),
            valid_to: None,
            recorded_at: self.now,
            confidence: self.rng.next_below(11) as f64 / 10.0,
            evidence: sources
                .into_iter()
                .map(|event| FactEvidence { event, quote: None })
                .collect(),
            preference: self.rng.roll_percent(20),
            tags: self.rng.pick_some(&TAGS, 0).into_iter().map(|tag| (*tag).to_owned()).collect(),
            entities: Vec::new(),
            notes: String::new(),
            superseded_by: None,
        }
    }

    fn random_episode(&mut self) -> MemoryClaim {
        let start = self.now.plus_millis(-(self.rng.next_below(40 * DAY) as i64));
        MemoryClaim::Episode(Box::new(MemoryEpisode {
            id: format!("ep{}", self.rng.next_below(40)),
            revision: 1,
            start,
            end: start,
            recorded_at: self.now,
            summary: self.random_text(25),
            highlights: (0..self.rng.next_below(4)).map(|_| self.random_text(8)).collect(),
            tags: vec![self.rng.pick_ref(&TAGS).to_owned()],
            entities: vec![self.rng.pick_ref(&NAMES).to_owned()],
            sources: self.pick_sources(),
            compression: CompressionLevel::Raw,
            merged_from: Vec::new(),
            merged_into: None,
        }))
    }

    fn random_procedure(&mut self) -> MemoryClaim {
        let steps: Vec<Value> = (0..3).map(|_| json!(self.random_text(10))).collect();
        MemoryClaim::Procedure(Box::new(MemoryProcedure {
            id: format!("p{}", self.rng.next_below(8)),
            revision: 1,
            task_type: "generic".to_owned(),
            content: Map::from_iter([("steps".to_owned(), json!(steps))]),
            priority: self.rng.next_below(3) as i64,
            usage: 0,
            sources: self.pick_sources(),
            applicability: Map::new(),
            recorded_at: self.now,
        }))
    }

    fn random_insight(&mut self) -> MemoryClaim {
        MemoryClaim::Insight(Box::new(MemoryInsight {
            id: format!("i{}", self.rng.next_below(20)),
            revision: 1,
            run: "r".to_owned(),
            kind: InsightKind::Hypothesis,
            statement: self.random_text(10),
            trigger: InsightTrigger::Synthesis,
            confidence: self.rng.next_below(11) as f64 / 10.0,
            validation: *self
                .rng
                .pick(&[InsightValidationState::Unvalidated, InsightValidationState::Validated]),
            tests: vec![self.random_text(4)],
            expires: MemoryExpiry::RunEnd,
            sources: self.pick_sources(),
            recorded_at: self.now,
        }))
    }

    fn random_working_state(&mut self) -> WorkingMemory {
        let state = WorkingState {
            goal: Some(self.random_text(6)),
            plan: None,
            slots: None,
            constraints: None,
            tool_evidence: None,
            decisions: None,
            risks: None,
            state_version: self.version,
            extra: Map::new(),
        };
        WorkingMemory { state, open_loops: Vec::new(), recorded_at: self.now }
    }

    /// Picks up to three existing events.
    fn pick_sources(&mut self) -> Vec<String> {
        let most = self.events.min(3);
        let many = self.rng.next_below(most + 1);
        (0..many).map(|_| format!("e{}", 1 + self.rng.next_below(self.events))).collect()
    }

    fn random_text(&mut self, most: usize) -> String {
        let many = self.rng.next_between(1, most);
        let words: Vec<&str> = (0..many).map(|_| self.rng.pick_ref(&WORDS)).collect();
        words.join(" ")
    }
}
