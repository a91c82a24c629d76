//! Values of `memory_packet_v1`, `memory_candidates_v1` and `memory_summary_v1`.

use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::candidates::*;
use countersign_shipped_contracts::memory::insight::*;
use countersign_shipped_contracts::memory::long_term::*;
use countersign_shipped_contracts::memory::meta::*;
use countersign_shipped_contracts::memory::report::*;
use countersign_shipped_contracts::memory::short_term::*;
use countersign_shipped_contracts::memory::summary::*;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{counts, extra, maybe, nullable, object, one_of, share, text, texts, time, value};

strategy!(packet: MemoryPacket {
    meta in meta(), short_term in short_term(), long_term in long_term(), insight in insight(),
    citations in vec(citation(), 0..3), budget_report in budget_report(), explain in explain(),
});
strategy!(meta: PacketMeta {
    schema_version in Just(PacketVersion::V1), scope in scope(), generated_at in time(),
    purpose in one_of(&[PacketPurpose::Planner, PacketPurpose::Tool, PacketPurpose::Responder]), task_type in maybe(text(0)),
    cues in maybe(cues()), budget in budget(), policy_id in maybe(text(0)),
});
strategy!(scope: PacketScope {
    tenant_id in maybe(text(0)), user_id in text(1), agent_id in text(1), session_id in text(1), run_id in text(1),
});
strategy!(cues: PacketCues {
    tags in maybe(texts()), entities in maybe(texts()), keywords in maybe(texts()), time_range in maybe(cue_time()),
    extra in extra(),
});
strategy!(cue_time: CueTimeRange { start in maybe(time()), end in maybe(time()) });
strategy!(budget: PacketBudget { max_tokens in 256..=u64::MAX, per_section in sections() });
strategy!(sections: SectionBudgets {
    working_state in any::<u64>(), facts in any::<u64>(), procedures in any::<u64>(), short_term_summary in any::<u64>(),
    episodes in any::<u64>(), insights in any::<u64>(),
});

strategy!(short_term: ShortTermMemory {
    working_state in working_state(), rolling_summary in text(0), key_quotes in maybe(vec(quote(), 0..3)),
    conversation_window in maybe(vec(message(), 0..3)), open_loops in maybe(vec(open_loop(), 0..3)),
    last_tool_evidence in maybe(vec(tool_evidence(), 0..3)),
});
strategy!(working_state: WorkingState {
    goal in maybe(text(0)), plan in maybe(vec(plan_step(), 0..3)), slots in maybe(object()), constraints in maybe(object()),
    tool_evidence in maybe(vec(tool_evidence(), 0..3)), decisions in maybe(vec(decision(), 0..3)),
    risks in maybe(vec(risk(), 0..3)), state_version in any::<u64>(), extra in extra(),
});
strategy!(plan_step: PlanStep {
    step in text(0), status in one_of(&[PlanStepStatus::Todo, PlanStepStatus::InProgress, PlanStepStatus::Done]),
});
strategy!(tool_evidence: ToolEvidence { reference in text(0), summary in text(0) });
strategy!(decision: WorkingDecision { statement in text(0), evidence_id in maybe(text(0)), extra in extra() });
strategy!(risk: WorkingRisk { risk in text(0), mitigation in maybe(text(0)), extra in extra() });
strategy!(quote: KeyQuote { evidence_id in text(0), quote in text(0), role in maybe(role()), ts in maybe(time()) });
strategy!(message: PacketMessage { evidence_id in text(0), role in role(), content in text(0), ts in maybe(time()) });
strategy!(open_loop: OpenLoop {
    question in text(0), owner in maybe(one_of(&[LoopOwner::User, LoopOwner::Agent, LoopOwner::System])),
    status in one_of(&[LoopStatus::Open, LoopStatus::Closed]), evidence_id in maybe(text(0)),
});

fn role() -> impl Strategy<Value = MessageRole> {
    one_of(&[MessageRole::User, MessageRole::Assistant, MessageRole::Tool])
}

strategy!(long_term: LongTermMemory {
    facts in vec(fact(), 0..3), preferences in maybe(vec(fact(), 0..2)), procedures in vec(procedure(), 0..3),
    episodes in vec(episode(), 0..3),
});
strategy!(fact: PacketFact {
    fact_id in text(0), fact_key in text(1), value in value(),
    status in one_of(&[FactStatus::Active, FactStatus::Disputed, FactStatus::Deprecated]), validity in maybe(validity()),
    confidence in maybe(share()), sources in texts(),
    scope_level in maybe(one_of(&[ScopeLevel::User, ScopeLevel::Agent, ScopeLevel::Tenant])), notes in maybe(text(0)),
});
strategy!(validity: FactValidity { valid_from in maybe(time()), valid_to in maybe(nullable(time())) });
strategy!(procedure: PacketProcedure {
    procedure_id in text(0), task_type in text(1), content in object(), priority in maybe(any::<i64>()), sources in maybe(texts()),
    applicability in maybe(object()),
});
strategy!(episode: PacketEpisode {
    episode_id in text(0), time_range in time_range(), summary in text(0), highlights in maybe(texts()), tags in maybe(texts()),
    entities in maybe(texts()), sources in texts(),
    compression_level in maybe(one_of(&[CompressionLevel::Raw, CompressionLevel::PhaseSummary, CompressionLevel::Milestone])),
    recency_score in maybe(share()),
});
strategy!(time_range: EpisodeTimeRange { start in time(), end in maybe(time()) });

strategy!(insight: PacketInsights {
    usage_policy in usage_policy(), hypotheses in vec(insight_item(), 0..2), strategy_sketches in vec(insight_item(), 0..2),
    patterns in vec(insight_item(), 0..2),
});
strategy!(usage_policy: InsightUsagePolicy { allow_in_responder in any::<bool>() });
strategy!(insight_item: InsightItem {
    id in text(0), kind in one_of(&[InsightKind::Hypothesis, InsightKind::Strategy, InsightKind::Pattern]), statement in text(0),
    trigger in maybe(one_of(&[InsightTrigger::Conflict, InsightTrigger::Failure, InsightTrigger::Synthesis, InsightTrigger::Analogy])),
    confidence in maybe(share()),
    validation_state in one_of(&[
        InsightValidationState::Unvalidated, InsightValidationState::Testing, InsightValidationState::Validated, InsightValidationState::Rejected,
    ]),
    tests_suggested in maybe(texts()), expires_at in maybe(nullable(text(0))), sources in maybe(texts()),
});

strategy!(citation: Citation { id in text(0), kind in text(0), ts in maybe(time()), summary in maybe(text(0)) });
strategy!(budget_report: BudgetReport {
    max_tokens in 256..=u64::MAX, used_tokens_est in any::<u64>(), section_usage in counts(),
    degradations in vec(degradation(), 0..3), omissions in maybe(vec(omission(), 0..3)),
});
strategy!(degradation: BudgetDegradation { section in text(0), action in text(0), reason in text(0) });
strategy!(omission: BudgetOmission { item in text(0), reason in text(0) });
strategy!(explain: PacketExplanation {
    selected in texts(), omitted in vec(omitted(), 0..3), filters in object(), conflicts in vec(conflict(), 0..3),
    determinism in maybe(object()),
});
strategy!(omitted: OmittedItem { item in text(0), reason in text(0), extra in extra() });
strategy!(conflict: FactConflict { kind in text(0), detail in text(0), fact_ids in maybe(texts()), extra in extra() });

strategy!(candidates: MemoryCandidates {
    facts in vec(proposed_fact(), 0..4), insights in vec(proposed_insight(), 0..4),
});
strategy!(proposed_fact: ProposedFact {
    key in text(1), value in text(1), event in text(1), quote in text(1), confidence in share(), preference in any::<bool>(),
});
strategy!(proposed_insight: ProposedInsight {
    kind in one_of(&[InsightKind::Hypothesis, InsightKind::Strategy, InsightKind::Pattern]), statement in text(1),
    because in vec(text(1), 1..4), confidence in share(), tests_suggested in vec(text(1), 0..3),
});
strategy!(summary: MemorySummary { lines in vec(line(), 1..4) });
strategy!(line: SummaryLine { text in text(1), events in vec(text(1), 1..4) });
