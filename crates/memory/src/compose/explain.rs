//! Builds the explanation of a packet: the filters that were applied, and what a replay needs.

use countersign_shipped_contracts::JsonObject;
use serde_json::{Value, json};

use super::context::ComposeContext;
use super::episode_candidates::DAY;
use super::procedure_candidates::GENERIC;
use crate::ReadTruncation;

/// The version of text analysis and item order. It changes when the same rows would give a
/// different packet.
pub const SELECTION_VERSION: &str = "countersign-words/4";

/// Describes the windows, caps, levels and strengths that were applied.
pub(super) fn describe_filters(ctx: &ComposeContext<'_>) -> JsonObject {
    let (policy, now) = (ctx.policy, ctx.now());
    let days = i64::from(policy.episode_window);
    let from = now.plus_millis(-(days * DAY));
    let since = super::timestamp::format_timestamp(from);
    let mut filters = into_object(json!({
        "as_of": now.to_string(),
        "purpose": ctx.request.purpose,
        "task_type": ctx.request.task_type.as_deref().unwrap_or(GENERIC),
        "query": ctx.cues.has_query,
        "caps": policy.caps,
        "candidates": policy.candidates,
        "episode_window": { "from": since, "to": now.to_string(), "days": days },
        "ageing": policy.ageing,
        "fact_levels": ["user", "agent", "tenant"],
        "matrix_row": ctx.row,
        "longest_item": policy.longest_item,
        "truncations": list_truncations(ctx),
        "insights_withheld": ctx.guard.insight_count(),
        "budget": if ctx.request.budget.is_some_and(|asked| asked.per_section.is_some()) {
            "sections of the request"
        } else {
            "shares of the policy"
        },
    }));
    if ctx.guard.tainted_count() > 0 {
        filters.insert("written_after_insights".to_owned(), ctx.guard.tainted_count().into());
    }
    filters
}

/// Returns the truncated reads, sorted.
fn list_truncations<'a>(ctx: &ComposeContext<'a>) -> Vec<&'a ReadTruncation> {
    let mut cut: Vec<&ReadTruncation> = ctx.candidates.truncations.iter().collect();
    cut.sort();
    cut
}

/// Describes what determines the packet: policy, tokenizer, sort keys and timestamp.
pub(super) fn describe_determinism(ctx: &ComposeContext<'_>) -> JsonObject {
    into_object(json!({
        "policy_id": ctx.policy.id,
        "policy_version": ctx.policy.version,
        "policy_digest": ctx.policy.compute_digest(),
        "tokenizer": ctx.counter.id(),
        "analyser": SELECTION_VERSION,
        "as_of": ctx.now().to_string(),
        "render": ctx.policy.render,
        "sort_keys": {
            "facts": ["score desc", "confidence desc", "recorded_at desc", "fact_id"],
            "procedures":
                ["priority desc", "usage desc", "score desc", "recorded_at desc", "procedure_id"],
            "episodes": ["score desc", "end desc", "recorded_at desc", "episode_id"],
            "key_quotes": ["score desc", "kept by the summary", "ts desc", "place desc", "evidence_id"],
            "conversation_window": ["place desc", "evidence_id"],
            "insights":
                ["validation_state", "confidence desc", "score desc", "recorded_at desc", "id"],
        },
    }))
}

fn into_object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
