//! Corruptions of the value: well-formed JSON that no longer satisfies its contract.

use serde_json::{Value, json};

use super::Corruption;
use crate::mutations::generate;
use testkit::SeededRng;

/// Applies a corruption; returns `false` if the reply offers nothing for it.
pub(super) fn apply(
    rng: &mut SeededRng,
    contract: &str,
    reply: &mut Value,
    corruption: Corruption,
) -> bool {
    let field = pick_required_field(rng, contract, reply);
    let Some(members) = reply.as_object_mut() else { return false };
    match corruption {
        Corruption::EnumTypo => {
            let pointer = *rng.pick(generate::enum_pointers(contract));
            let Some(Value::String(word)) = reply.pointer_mut(pointer) else { return false };
            *word = make_typo(rng, word);
            true
        }
        Corruption::WrongType => {
            let Some(member) = field.and_then(|field| members.get_mut(&field)) else {
                return false;
            };
            *member = match member {
                Value::String(_) => json!(*rng.pick(&[0, 1, 42])),
                Value::Number(number) => Value::String(number.to_string()),
                Value::Array(_) => json!("none"),
                _ => json!([]),
            };
            true
        }
        // `shift_remove` preserves the order of the other members.
        Corruption::DroppedField => field.and_then(|field| members.shift_remove(&field)).is_some(),
        Corruption::ExtraField => {
            let name = *rng.pick(&["confidence", "comment", "Verdict", "_note", "reasoning"]);
            members.insert(name.to_owned(), json!("extra"));
            true
        }
        _ => false,
    }
}

/// Picks a top-level field that the contract requires and the reply has.
fn pick_required_field(rng: &mut SeededRng, contract: &str, reply: &Value) -> Option<String> {
    let required: &[&str] = match contract {
        "xiaobo_action_v1" => &["schema_version", "task_id", "result_type"],
        "llm_step_output" => &["output_id", "step", "patch", "next_action", "rationale"],
        // These contracts require only top-level fields, and none of them is optional.
        _ => {
            return reply
                .as_object()
                .map(|members| members.keys().nth(rng.next_below(members.len())).cloned())?;
        }
    };
    let present: Vec<&&str> = required.iter().filter(|field| reply.get(field).is_some()).collect();
    if present.is_empty() { None } else { Some((**rng.pick(&present)).to_owned()) }
}

/// Returns a word that is similar to an allowed one but not allowed itself.
fn make_typo(rng: &mut SeededRng, word: &str) -> String {
    match rng.next_below(4) {
        0 => format!("{word}_"),
        1 => word[1..].to_owned(),
        2 => format!(" {word}"),
        _ => {
            let flipped = if word.chars().any(char::is_uppercase) {
                word.to_lowercase()
            } else {
                word.to_uppercase()
            };
            flipped + "s"
        }
    }
}
