//! The verdict on one reply, as the API sends it.

use countersign_contract::contract::Contract;
use countersign_contract::json::{Repair, TextSpan};
use countersign_contract::reply::{AdmissionVerdict, Violation, render_reask};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::ContractRef;

/// The verdict of a contract on one reply.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AdmissionView {
    /// The verdict: `accepted` or `refused`.
    #[schema(example = "accepted")]
    pub verdict: String,
    /// The contract that the reply was checked against.
    pub contract: ContractRef,
    /// The accepted value. Null if the reply was refused.
    pub value: Option<Value>,
    /// The position of the value in the text: `[from, to]` in bytes. Null if the reply was refused.
    #[schema(value_type = Option<Value>)]
    pub span: Option<TextSpan>,
    /// The repairs that were made: `{"kind", "class", "span"}`.
    #[schema(value_type = Vec<Object>)]
    pub repairs: Vec<Repair>,
    /// JSON Pointers of members that were filled with defaults of the schema.
    pub defaults: Vec<String>,
    /// Everything that is wrong with the reply. Empty if it was accepted.
    #[schema(value_type = Vec<Object>)]
    pub violations: Vec<Violation>,
    /// Ids of rules that were not evaluated, because the request contains no state.
    pub unchecked: Vec<String>,
    /// The text that asks the model to retry. Absent unless it was requested and the reply was
    /// refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reask: Option<String>,
}

impl AdmissionView {
    /// Builds the view from a verdict; `with_reask` adds the text that asks the model to retry.
    #[must_use]
    pub fn from_verdict(
        contract: &Contract,
        verdict: &AdmissionVerdict,
        unchecked: &[&str],
        with_reask: bool,
    ) -> Self {
        let accepted = verdict.as_accepted();
        let again = match verdict {
            AdmissionVerdict::Refused(violations) if with_reask => {
                Some(render_reask(contract, violations))
            }
            _ => None,
        };
        Self {
            verdict: if accepted.is_some() { "accepted" } else { "refused" }.to_owned(),
            contract: contract.into(),
            value: accepted.map(|accepted| accepted.value().clone()),
            span: accepted.and_then(|accepted| accepted.span()),
            repairs: accepted.map(|accepted| accepted.repairs().to_vec()).unwrap_or_default(),
            defaults: accepted.map(|accepted| accepted.defaults().to_vec()).unwrap_or_default(),
            violations: verdict.violations().to_vec(),
            unchecked: unchecked.iter().map(|&rule| rule.to_owned()).collect(),
            reask: again,
        }
    }
}
