//! What was applied, and what it takes to compose the same again.

use countersign_contracts::Object;
use serde_json::{Value, json};

use super::context::Context;
use super::episodes::DAY;
use super::procedures::GENERIC;
use crate::Cut;

/// The version of how words are read and items put in order: it changes when a packet of the same
/// rows would.
pub const ANALYSER: &str = "countersign-words/3";

/// The windows, caps, levels and strengths that were applied.
pub(super) fn filters(ctx: &Context<'_>) -> Object {
    let (policy, now) = (ctx.policy, ctx.now());
    let days = i64::from(policy.episode_window);
    let from = now.after(-(days * DAY));
    let since = super::moment::told(from);
    let mut filters = object(json!({
        "as_of": now.to_string(),
        "purpose": ctx.request.purpose,
        "task_type": ctx.request.task_type.as_deref().unwrap_or(GENERIC),
        "query": ctx.cues.asked,
        "caps": policy.caps,
        "candidates": policy.candidates,
        "episode_window": { "from": since, "to": now.to_string(), "days": days },
        "ageing": policy.ageing,
        "fact_levels": ["user", "agent", "tenant"],
        "given": ctx.row,
        "longest_item": policy.longest_item,
        "cut": cut(ctx),
        "guesses_withheld": ctx.guard.len(),
        "budget": if ctx.request.budget.is_some_and(|asked| asked.per_section.is_some()) {
            "sections of the request"
        } else {
            "shares of the policy"
        },
    }));
    if ctx.guard.tainted() > 0 {
        filters.insert("written_after_guesses".to_owned(), ctx.guard.tainted().into());
    }
    filters
}

/// What was not looked at as a whole, in an order of its own.
fn cut<'a>(ctx: &Context<'a>) -> Vec<&'a Cut> {
    let mut cut: Vec<&Cut> = ctx.found.cut.iter().collect();
    cut.sort();
    cut
}

/// Policy, tokenizer, order, moment.
pub(super) fn determinism(ctx: &Context<'_>) -> Object {
    object(json!({
        "policy_id": ctx.policy.id,
        "policy_version": ctx.policy.version,
        "policy_digest": ctx.policy.digest(),
        "tokenizer": ctx.counter.id(),
        "analyser": ANALYSER,
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

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}
