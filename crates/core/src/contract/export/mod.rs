//! A contract as a provider's strict mode can take it, and the list of what only we still enforce.
//!
//! An export never replaces the door: every reply is put to the whole contract. What an export
//! drops makes it wider, which costs a re-ask at worst; where a provider's language cannot say what
//! the contract takes, the export is narrower, and the report says so.

mod target;
mod loss;
mod vendor;
mod recursion;
mod unfolding;
mod normal;
mod root;
mod schema;
mod object;
mod members;
mod size;
mod nullable;
mod grammar;
#[cfg(test)]
mod subset;
#[cfg(test)]
mod tests;

pub use loss::{Effect, Export, Loss};
pub use target::Target;

use crate::contract::Contract;

/// Exports a contract.
///
/// ```
/// use countersign_core::contract::{Target, export, load_inline};
///
/// let contract = load_inline(r#"
/// id: verdict
/// version: 1.0.0
/// schema:
///   type: object
///   additionalProperties: false
///   required: [score]
///   properties: { score: { type: integer, maximum: 10 }, note: { type: string, minLength: 3 } }
/// "#).unwrap();
///
/// let export = export(&contract, Target::OpenAi);
/// assert_eq!(export.schema().unwrap()["required"], serde_json::json!(["score", "note"]));
/// assert_eq!(export.nullable, ["/note"]);
/// assert_eq!(export.losses[0].to_string(), "/properties/note: minLength: not in this provider's language [widened, enforced by the runtime]");
/// ```
#[must_use]
pub fn export(contract: &Contract, target: Target) -> Export {
    let mut export = match target.vendor() {
        Some(vendor) => schema::export(contract.schema.source(), vendor),
        None => grammar::export(contract.schema.source()),
    };
    export.losses.extend(contract.rules.iter().map(|rule| {
        Loss::new(&rule.at, &format!("rule:{}", rule.id), &rule.says, Effect::Widened)
    }));
    export
}
