//! Values of `analyst_plan`, `architect_spec`, `guardian_report`, `evidence_item` and `chat_state`.

use countersign_shipped_contracts::answer::*;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{counts, extra, maybe, one_of, share, text, texts};

strategy!(plan: AnalystPlan {
    intent in text(1), request_type in text(0), track in track(), required_sources in vec(source(), 0..4),
    missing_info_questions in vec(text(0), 0..=1), expected_output_schema in text(1),
});
strategy!(spec: ArchitectSpec {
    response_format in one_of(&[ResponseFormat::Markdown, ResponseFormat::Json, ResponseFormat::Hybrid]),
    domain_terms in texts(), forbidden_content in texts(), required_sections in texts(),
});
strategy!(report: GuardianReport {
    verdict in one_of(&[GuardianVerdict::Pass, GuardianVerdict::Fail, GuardianVerdict::Retry]), reasons in texts(), required_actions in texts(),
    risk_level in one_of(&[RiskLevel::Low, RiskLevel::Med, RiskLevel::High]),
});
strategy!(evidence: EvidenceItem { source in source(), reference in text(1), snippet in text(1), confidence in share() });
strategy!(state: ChatState {
    user_query in maybe(text(1)), track in maybe(track()), request_type in maybe(text(0)), route_reason in maybe(text(0)),
    analyst_plan in maybe(plan()), evidence in maybe(vec(evidence(), 0..3)), architect_spec in maybe(spec()),
    draft_answer in maybe(text(0)), guardian in maybe(report()), final_answer in maybe(text(1)),
    retry_count in maybe(any::<u64>()), trace_id in maybe(text(1)), timings_ms in maybe(counts()), extra in extra(),
});

fn track() -> impl Strategy<Value = AnswerTrack> {
    one_of(&[AnswerTrack::Fast, AnswerTrack::Quality])
}

fn source() -> impl Strategy<Value = EvidenceSource> {
    one_of(&[
        EvidenceSource::Db,
        EvidenceSource::Neo4j,
        EvidenceSource::Doc,
        EvidenceSource::Policy,
    ])
}
