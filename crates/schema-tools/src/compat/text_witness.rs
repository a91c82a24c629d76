//! Compares how two contracts read a reply text: intake, repairs, and what is left out or taken as
//! text.
//!
//! A looser intake accepts every text that a stricter one accepts, because bare JSON stays bare
//! JSON.

use countersign_contract::contract::Contract;
use countersign_contract::json::count_bytes;
use countersign_contract::reply::{FinishReason, IntakeMode, RuleContext};
use serde_json::{Value, json};

use super::witness_pool::accepts_value;
use crate::{SchemaSampler, WorkBudget};

/// Returns whether `to` refuses texts that `from` accepts, because of how it reads
/// them.
pub(super) fn is_stricter(from: &Contract, to: &Contract) -> bool {
    strictness_rank(to.intake) < strictness_rank(from.intake)
        || to.repairs < from.repairs
        || to.extra_fields < from.extra_fields
        || to.empty_fields < from.empty_fields
        || from.text_field.is_some() && to.text_field != from.text_field
}

/// Returns the rank of an intake mode, strictest first.
pub(super) fn strictness_rank(intake: IntakeMode) -> usize {
    IntakeMode::ALL.iter().position(|one| *one == intake).unwrap_or(0)
}

/// Returns a value, a text that carries it, and the violations: `from` accepts the text and `to`
/// refuses it, although `to` accepts the value.
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
        let plain = from.text_field.as_ref().and_then(|field| value.get(field)?.as_str());
        let variants = render_text_variants(&value).into_iter().chain(plain.map(str::to_owned));
        let text = variants.into_iter().find(|text| {
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

/// Renders one text for each form of reply that an intake mode or repair level may refuse.
fn render_text_variants(value: &Value) -> Vec<String> {
    let bare = value.to_string();
    let inside = bare.strip_suffix('}').unwrap_or(&bare);
    let comma = if *value == json!({}) { "" } else { "," };
    vec![
        format!("```json\n{bare}\n```"),
        format!("Here it is: {bare}"),
        format!("{inside},}}"),
        bare.replacen('{', "{ // a comment\n", 1),
        bare.replace('"', "'"),
        bare.replace("true", "True").replace("false", "False").replace("null", "None"),
        inside.to_owned(),
        format!("{inside}{comma}\"no such field\": null}}"),
    ]
}
