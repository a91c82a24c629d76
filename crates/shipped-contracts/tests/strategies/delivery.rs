//! Values of `xiaobo_action_v1` and `xiaojing_review_v1`.

use countersign_shipped_contracts::delivery::*;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{maybe, one_of, text};

/// Each kind of result with the part it needs; the others may be there too, which only rules
/// forbid.
pub(crate) fn action() -> impl Strategy<Value = XiaoboAction> {
    prop_oneof![needing(), made(), idle(), failed()]
}

strategy!(needing: XiaoboAction {
    schema_version in Just(XiaoboActionVersion::V1), task_id in text(1), result_type in Just(XiaoboResultType::NeedsInput),
    needs_input in needs().prop_map(Some), artifact in maybe(artifact()), error in maybe(error()),
});
strategy!(made: XiaoboAction {
    schema_version in Just(XiaoboActionVersion::V1), task_id in text(1), result_type in Just(XiaoboResultType::Artifact),
    needs_input in maybe(needs()), artifact in artifact().prop_map(Some), error in maybe(error()),
});
strategy!(idle: XiaoboAction {
    schema_version in Just(XiaoboActionVersion::V1), task_id in text(1), result_type in Just(XiaoboResultType::Noop),
    needs_input in maybe(needs()), artifact in maybe(artifact()), error in maybe(error()),
});
strategy!(failed: XiaoboAction {
    schema_version in Just(XiaoboActionVersion::V1), task_id in text(1), result_type in Just(XiaoboResultType::Error),
    needs_input in maybe(needs()), artifact in maybe(artifact()), error in error().prop_map(Some),
});
strategy!(needs: NeedsInput { required_docs in vec(doc(), 1..3) });
strategy!(doc: RequiredDoc {
    name in text(1), description in text(1),
    accepted_types in maybe(vec(one_of(&[DocType::Pdf, DocType::Docx, DocType::Xlsx, DocType::Md, DocType::Txt]), 1..4)),
    suggested_path in maybe(text(1)),
});
strategy!(artifact: Artifact {
    name in text(1), format in one_of(&[ArtifactFormat::Md, ArtifactFormat::Txt, ArtifactFormat::Json]), content in text(1),
    path_hint in maybe(text(0)), summary in maybe(text(0)),
});
strategy!(error: XiaoboActionError { code in text(1), message in text(1), suggestion in maybe(text(0)) });

strategy!(review: XiaojingReview {
    schema_version in Just(ReviewVersion::V1), task_id in text(1),
    review_target in one_of(&[ReviewTarget::Plan, ReviewTarget::Node]), total_score in 0..=100_u64,
    breakdown in vec(dimension(), 1..3), summary in text(1),
    action_required in one_of(&[ReviewActionRequired::Approve, ReviewActionRequired::Modify, ReviewActionRequired::RequestExternalInput]),
    suggestions in vec(suggestion(), 0..3),
});
strategy!(dimension: Dimension {
    dimension in text(1), score in any::<u64>(), max_score in any::<u64>(), issues in vec(issue(), 0..3),
});
strategy!(issue: ReviewIssue {
    problem in text(1), evidence in text(1), impact in text(1), suggestion in text(1), acceptance_criteria in text(1),
});
strategy!(suggestion: Suggestion {
    priority in one_of(&[SuggestionPriority::High, SuggestionPriority::Med, SuggestionPriority::Low]), change in text(1), steps in vec(text(1), 0..3),
    acceptance_criteria in text(1),
});
