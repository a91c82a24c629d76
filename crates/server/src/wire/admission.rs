//! A verdict on one reply, as it is sent.

use countersign_core::contract::Contract;
use countersign_core::json::{Repair, TextSpan};
use countersign_core::reply::{AdmissionVerdict, Violation, render_reask};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::ContractRef;

/// A verdict on one reply.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AdmissionView {
    /// `accepted` or `refused`.
    #[schema(example = "accepted")]
    pub verdict: String,
    /// The contract it was held against.
    pub contract: ContractRef,
    /// The value; null where it was refused.
    pub value: Option<Value>,
    /// Where the value stands in the text: `[from, to]` in bytes.
    #[schema(value_type = Option<Value>)]
    pub span: Option<TextSpan>,
    /// What was mended: `{"kind", "class", "span"}`.
    #[schema(value_type = Vec<Object>)]
    pub repairs: Vec<Repair>,
    /// Places that were filled with the schema's defaults.
    pub defaults: Vec<String>,
    /// Everything wrong with it.
    #[schema(value_type = Vec<Object>)]
    pub violations: Vec<Violation>,
    /// Rules that were not asked, for want of a state.
    pub unchecked: Vec<String>,
    /// The text that asks the model again, where it was wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reask: Option<String>,
}

impl AdmissionView {
    /// What a contract says of a reply; with the text that asks again, where that is wanted.
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
