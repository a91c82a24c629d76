//! How a text may carry the object: intake and repairs, compared.
//!
//! A looser intake takes every text a stricter one takes: what is bare JSON stays bare JSON.

use serde_json::Value;

use super::witness_pool::accepts_value;
use crate::contract::work_budget::count_bytes;
use crate::contract::{Contract, SchemaSampler, WorkBudget};
use crate::reply::{FinishReason, IntakeMode, RuleContext};

/// Whether `to` refuses texts, by intake or repairs, that `from` takes.
pub(super) fn is_stricter(from: &Contract, to: &Contract) -> bool {
    strictness_rank(to.intake) < strictness_rank(from.intake) || to.repairs < from.repairs
}

/// The place of an intake among all, strictest first.
pub(super) fn strictness_rank(intake: IntakeMode) -> usize {
    IntakeMode::ALL.iter().position(|one| *one == intake).unwrap_or(0)
}

/// A value and a text that carries it, which `from` takes and `to` refuses though it takes the value.
pub(super) fn find_text_witness(
    from: &Contract,
    to: &Contract,
    budget: &WorkBudget<'_>,
) -> Option<(Value, String, Vec<String>)> {
    let sampler = SchemaSampler::new(from.schema.source());
    let bounded = sampler.with_budget(budget);
    let values = bounded
        .generate_boundary_values()
        .into_iter()
        .chain((0..32).filter_map(|seed| bounded.generate_sample(seed)));
    let both_take = |value: &Value| {
        accepts_value(from, value, budget) == Some(true)
            && accepts_value(to, value, budget) == Some(true)
    };
    values.filter(both_take).take(64).find_map(|value| {
        if !budget.spend(16 * count_bytes(&value) as u64) {
            return None;
        }
        let text = render_text_variants(&value).into_iter().find(|text| {
            let admits = |contract: &Contract| {
                contract
                    .admit(text, FinishReason::Stop, &RuleContext::default())
                    .as_accepted()
                    .is_some()
            };
            admits(from) && !admits(to)
        })?;
        let refusal = to.admit(&text, FinishReason::Stop, &RuleContext::default());
        let because = refusal.violations().iter().map(ToString::to_string).collect();
        Some((value, text, because))
    })
}

/// One text for each way of carrying an object that somebody may refuse.
fn render_text_variants(value: &Value) -> Vec<String> {
    let bare = value.to_string();
    let inside = bare.strip_suffix('}').unwrap_or(&bare);
    vec![
        format!("```json\n{bare}\n```"),
        format!("Here it is: {bare}"),
        format!("{inside},}}"),
        bare.replacen('{', "{ // a comment\n", 1),
        bare.replace('"', "'"),
        bare.replace("true", "True").replace("false", "False").replace("null", "None"),
        inside.to_owned(),
    ]
}
