//! What a provider is told of a contract: its schema where nothing good would be forbidden by it.

use countersign_core::contract::{Target, export};
use serde_json::Value;

use crate::{Ask, Sent};

/// What is told of the contract.
pub(super) struct Told {
    /// Of which kind it is.
    pub(super) sent: Sent,
    /// The schema, where it is one.
    pub(super) schema: Option<Value>,
    /// Whether nulls in the reply may then mean absence.
    pub(super) drop_nulls: bool,
}

/// Whether the provider can be told just "JSON".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonMode {
    /// Always.
    Has,
    /// Only if the prompt names JSON.
    HasIfNamed,
    /// Never.
    Lacks,
}

/// Chooses.
///
/// An export that narrows would keep the model from saying what the contract takes. One whose root
/// is no object is refused by strict modes.
pub(super) fn told(ask: &Ask, target: Target, json_mode: JsonMode) -> Told {
    let nothing = Told { sent: Sent::Nothing, schema: None, drop_nulls: false };
    let can_say_json = match json_mode {
        JsonMode::Has => true,
        JsonMode::HasIfNamed => ask.mentions_json(),
        JsonMode::Lacks => false,
    };
    let Some(contract) = &ask.contract else {
        let sent = if ask.object && can_say_json { Sent::JsonMode } else { Sent::Nothing };
        return Told { sent, ..nothing };
    };
    let export = export(contract, target);
    let fits = !export.narrows() && export.schema_or_grammar["type"] == "object";
    match (fits, can_say_json) {
        (true, _) => Told {
            sent: Sent::Schema(target),
            drop_nulls: !export.nullable.is_empty(),
            schema: Some(export.schema_or_grammar),
        },
        (false, true) => Told { sent: Sent::JsonMode, ..nothing },
        (false, false) => nothing,
    }
}
