//! Exports a contract for a provider's strict mode, with a list of what only the runtime enforces.
//!
//! An export never replaces admission: every reply is still checked against the whole contract.
//! What an export drops makes it wider, which costs a retry at worst. If a provider's schema
//! language cannot express something that the contract accepts, the export is narrower, and the
//! report says so.

mod export_target;
mod exported_contract;
mod loss_recorder;
mod strict_mode;
mod reference_graph;
mod export_traversal;
mod normalized_schema;
mod object_root;
mod schema_exporter;
mod export_object;
mod export_enum;
mod export_size;
mod nullable_fields;
mod grammar;
#[cfg(test)]
mod strict_mode_tests;
#[cfg(test)]
mod export_tests;

pub use export_target::ExportTarget;
pub use exported_contract::{ExportLoss, ExportedContract, LossEffect};

use countersign_contract::contract::Contract;

/// Exports a contract for a target.
///
/// ```
/// use countersign_contract::contract::load_inline_contract;
/// use countersign_schema_tools::{ExportTarget, export_contract};
///
/// let contract = load_inline_contract(r#"
/// id: verdict
/// version: 1.0.0
/// schema:
///   type: object
///   additionalProperties: false
///   required: [score]
///   properties: { score: { type: integer, maximum: 10 }, note: { type: string, minLength: 3 } }
/// "#).unwrap();
///
/// let export = export_contract(&contract, ExportTarget::OpenAi);
/// assert_eq!(export.schema().unwrap()["required"], serde_json::json!(["score", "note"]));
/// assert_eq!(export.nullable, ["/note"]);
/// assert_eq!(
///     export.losses[0].to_string(),
///     "/properties/note: minLength: not supported by this provider \
///      [widened, enforced by the runtime]",
/// );
/// ```
#[must_use]
pub fn export_contract(contract: &Contract, target: ExportTarget) -> ExportedContract {
    let mut export = match target.profile() {
        Some(vendor) => schema_exporter::export_schema(contract.schema.source(), vendor),
        None => grammar::export_grammar(contract.schema.source()),
    };
    export.losses.extend(contract.rules.iter().map(|rule| {
        ExportLoss::new(&rule.at, &format!("rule:{}", rule.id), &rule.says, LossEffect::Widened)
    }));
    export
}
