//! Values of `pre_skeleton_state` and `llm_step_output`.

use countersign_shipped_contracts::intake::llm_step_output::*;
use countersign_shipped_contracts::intake::pre_skeleton_state::*;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{maybe, number, object, one_of, text, texts, time, value};

strategy!(state: PreSkeletonState {
    meta in meta(), domain in object(), issues in vec(issue(), 0..3), dialogue in dialogue(), control in control(),
    gate in maybe(gate()),
});
strategy!(meta: IntakeMeta {
    session_id in text(8), schema_id in text(0), schema_version in text(0), stage in Just(IntakeStage::PreSkeleton),
    locale in maybe(Just(IntakeLocale { language: IntakeLanguage::Ru, jurisdiction: Jurisdiction::Ru })),
    status in maybe(one_of(&[IntakeStatus::Collecting, IntakeStatus::Gating, IntakeStatus::Ready, IntakeStatus::Blocked])),
    created_at in time(), updated_at in time(), state_version in maybe(any::<u64>()),
});
strategy!(dialogue: IntakeDialogue { history in vec(turn(), 0..3), asked in vec(asked(), 0..3) });
strategy!(turn: DialogueTurn {
    id in text(0), role in one_of(&[TurnRole::User, TurnRole::Assistant, TurnRole::System]), text in text(1), at in time(),
});
strategy!(asked: AskedQuestion { id in text(0), text in text(1), at in time(), semantic_fingerprint in maybe(text(0)) });
strategy!(issue: Issue {
    id in text(0), key in maybe(text(0)), severity in severity(),
    status in one_of(&[IssueStatus::Open, IssueStatus::Resolved, IssueStatus::Dismissed]),
    title in text(3), why_it_matters in text(3), missing_or_conflict in maybe(text(0)), resolution_hint in text(0),
    requires_user_confirmation in maybe(any::<bool>()), evidence in maybe(vec(evidence(), 0..3)),
});
strategy!(evidence: IssueEvidence {
    kind in one_of(&[EvidenceKind::Turn, EvidenceKind::FactPath, EvidenceKind::Note]), reference in text(0),
});
strategy!(control: IntakeControl { limits in limits(), checks in checks(), flags in object() });
strategy!(limits: IntakeLimits { max_questions_per_run in 1..=10_u64, max_loops in 1..=50_u64, max_history_turns in 3..=200_u64 });
strategy!(checks: IntakeChecks { require_user_confirmation_for_assumptions in any::<bool>() });
strategy!(gate: IntakeGateResult { ready_for_skeleton in any::<bool>(), summary in text(0), blockers in maybe(vec(blocker(), 0..3)) });
strategy!(blocker: GateBlocker { severity in severity(), message in text(0), linked_issue_ids in maybe(texts()) });

fn severity() -> impl Strategy<Value = IssueSeverity> {
    one_of(&[IssueSeverity::Critical, IssueSeverity::High, IssueSeverity::Med, IssueSeverity::Low])
}

strategy!(step: LlmStepOutput {
    output_id in text(0), step in one_of(&[IntakeStep::Interpret, IntakeStep::GateCheck]), patch in patch(),
    issue_updates in maybe(vec(update(), 0..3)), next_action in next_action(), rationale in text(3),
    safety in maybe(safety()), observations in maybe(texts()),
});
strategy!(patch: StepPatch { format in one_of(&[PatchFormat::JsonPatch, PatchFormat::MergePatch]), ops in ops() });

fn ops() -> impl Strategy<Value = PatchOps> {
    prop_oneof![
        vec(prop_oneof![with_value(), with_source(), removal()], 0..4)
            .prop_map(PatchOps::Operations),
        object().prop_map(PatchOps::Merge),
    ]
}

strategy!(with_value: JsonPatchOp {
    op in one_of(&[JsonPatchOpKind::Add, JsonPatchOpKind::Replace, JsonPatchOpKind::Test]), path in text(1), from in maybe(text(0)),
    value in value().prop_map(Some),
});
strategy!(with_source: JsonPatchOp {
    op in one_of(&[JsonPatchOpKind::Move, JsonPatchOpKind::Copy]), path in text(1), from in text(0).prop_map(Some), value in maybe(value()),
});
strategy!(removal: JsonPatchOp { op in Just(JsonPatchOpKind::Remove), path in text(1), from in maybe(text(0)), value in maybe(value()) });
strategy!(update: IssueUpsert {
    op in one_of(&[IssueOp::Upsert, IssueOp::Resolve, IssueOp::Dismiss]), issue in object(),
});

fn next_action() -> impl Strategy<Value = NextAction> {
    prop_oneof![asking(), halting(), going_on()]
}

strategy!(asking: NextAction {
    kind in Just(NextActionKind::AskUser), ask_user in question().prop_map(Some), error in maybe(halt()),
});
strategy!(halting: NextAction {
    kind in Just(NextActionKind::HaltError), ask_user in maybe(question()), error in halt().prop_map(Some),
});
strategy!(going_on: NextAction {
    kind in one_of(&[NextActionKind::ProceedToGate, NextActionKind::ProceedToSkeleton]), ask_user in maybe(question()),
    error in maybe(halt()),
});

fn question() -> impl Strategy<Value = AskUserAction> {
    prop_oneof![choosing(), writing()]
}

strategy!(choosing: AskUserAction {
    question_id in maybe(text(0)), question_text in text(5), answer_format in Just(AnswerFormat::Choices),
    choices in vec(choice(), 2..4).prop_map(Some), why_this_question in maybe(text(0)), links_to_issue_ids in maybe(texts()),
});
strategy!(writing: AskUserAction {
    question_id in maybe(text(0)), question_text in text(5), answer_format in Just(AnswerFormat::FreeText),
    choices in maybe(vec(choice(), 2..4)), why_this_question in maybe(text(0)), links_to_issue_ids in maybe(texts()),
});
strategy!(choice: AskUserChoice { id in text(0), label in text(0), value in choice_value() });

fn choice_value() -> impl Strategy<Value = ChoiceValue> {
    prop_oneof![
        text(0).prop_map(ChoiceValue::Text),
        number().prop_map(ChoiceValue::Number),
        any::<bool>().prop_map(ChoiceValue::Bool),
    ]
}

strategy!(halt: HaltError {
    category in one_of(&[
        HaltCategory::SchemaValidation, HaltCategory::InsufficientContext, HaltCategory::PolicyViolation, HaltCategory::Other,
    ]),
    message in text(5), suggested_recovery in maybe(text(0)),
});
strategy!(safety: StepSafety {
    has_unconfirmed_assumptions in maybe(any::<bool>()), detected_conflict in maybe(any::<bool>()),
    repeat_question_risk in maybe(any::<bool>()),
});
