//! What a provider is told of a contract: its schema where nothing good would be forbidden by it.

use countersign_core::contract::{ExportTarget, export_contract};
use serde_json::Value;

use crate::{ModelRequest, OutputConstraint};

/// What is told of the contract.
pub(super) struct ConstraintPayload {
    /// Of which kind it is.
    pub(super) constraint: OutputConstraint,
    /// The schema, where it is one.
    pub(super) schema: Option<Value>,
    /// Whether nulls in the reply may then mean absence.
    pub(super) drop_nulls: bool,
}

/// Whether the provider can be told just "JSON".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonModeSupport {
    /// Always.
    Always,
    /// Only if the prompt names JSON.
    IfPromptMentionsJson,
    /// Never.
    Never,
}

/// Chooses.
///
/// An export that narrows would keep the model from saying what the contract takes. One whose root
/// is no object is refused by strict modes.
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
