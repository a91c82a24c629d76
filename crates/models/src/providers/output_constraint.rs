//! Chooses what a provider is told about a contract: its schema, if that does not forbid a valid
//! reply.

use countersign_schema_tools::{ExportTarget, export_contract};
use serde_json::Value;

use crate::{ModelRequest, OutputConstraint};

/// What the request says about the contract.
pub(super) struct ConstraintPayload {
    /// Kind of constraint.
    pub(super) constraint: OutputConstraint,
    /// The exported schema, if one is sent.
    pub(super) schema: Option<Value>,
    /// Whether nulls in the reply may then mean absent fields.
    pub(super) drop_nulls: bool,
}

/// Whether the provider has a JSON mode without a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonModeSupport {
    /// The JSON mode is always available.
    Always,
    /// The JSON mode requires that the prompt mentions JSON.
    IfPromptMentionsJson,
    /// The provider has no JSON mode.
    Never,
}

/// Chooses the constraint for a request.
///
/// A narrowing export would keep the model from giving replies that the contract accepts. Strict
/// modes refuse a schema whose root is not an object.
pub(super) fn choose_constraint(
    ask: &ModelRequest,
    target: ExportTarget,
    json_mode: JsonModeSupport,
) -> ConstraintPayload {
    let nothing = ConstraintPayload {
        constraint: OutputConstraint::Unconstrained,
        schema: None,
        drop_nulls: false,
    };
    let can_say_json = match json_mode {
        JsonModeSupport::Always => true,
        JsonModeSupport::IfPromptMentionsJson => ask.mentions_json(),
        JsonModeSupport::Never => false,
    };
    let Some(contract) = &ask.contract else {
        let sent = if ask.expects_object && can_say_json {
            OutputConstraint::JsonMode
        } else {
            OutputConstraint::Unconstrained
        };
        return ConstraintPayload { constraint: sent, ..nothing };
    };
    let export = export_contract(contract, target);
    let fits = !export.is_narrower() && export.output["type"] == "object";
    match (fits, can_say_json) {
        (true, _) => ConstraintPayload {
            constraint: OutputConstraint::Schema(target),
            drop_nulls: !export.nullable.is_empty(),
            schema: Some(export.output),
        },
        (false, true) => ConstraintPayload { constraint: OutputConstraint::JsonMode, ..nothing },
        (false, false) => nothing,
    }
}
