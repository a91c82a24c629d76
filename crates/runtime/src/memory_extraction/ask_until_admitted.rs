//! Asks a model until the contract accepts a reply, outside of any run.

use std::sync::Arc;

use countersign_contract::contract::Contract;
use countersign_contract::reply::{AdmissionVerdict, FinishReason, ReaskDecision, Violation};
use countersign_models::{ChatMessage, ChatModel, ChatRole, ModelRequest, complete_in_span};
use serde_json::Value;

use super::ExtractionError;
use crate::driver::drop_null_fields;

/// A reply that the contract accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractionReply {
    /// The accepted value.
    pub value: Value,
    /// How many times the model was asked.
    pub attempts: u32,
    /// How many repairs the reply needed.
    pub repairs: usize,
}

/// Progress notifications while a model is asked.
#[derive(Debug)]
pub enum ExtractionProgress<'a> {
    /// Text that the model streams.
    Text(&'a str),
    /// The reply was refused with these violations.
    Refused(&'a [Violation]),
}

/// Asks a model, and retries as often as the contract allows, each time with all violations.
/// `admit` validates a reply against the contract and the state that its rules read.
pub async fn ask_until_admitted(
    model: &dyn ChatModel,
    contract: &Arc<Contract>,
    mut question: ModelRequest,
    admit: &(dyn Fn(&str, FinishReason) -> AdmissionVerdict + Sync),
    heard: &mut (dyn FnMut(ExtractionProgress<'_>) + Send),
) -> Result<ExtractionReply, ExtractionError> {
    question.contract = Some(Arc::clone(contract));
    let (mut attempts, mut before) = (1, None);
    loop {
        let mut live = |text: &str| heard(ExtractionProgress::Text(text));
        let answer = complete_in_span(model, &question, None, &mut live).await?;
        let mended = drop_null_fields(&answer, Some(contract)).map(|(text, _)| text);
        let nulls = usize::from(mended.is_some());
        let said = mended.unwrap_or_else(|| answer.text.clone());
        let violations = match admit(&said, answer.finish) {
            AdmissionVerdict::Accepted(accepted) => {
                let repairs = accepted.repairs().len() + nulls;
                return Ok(ExtractionReply { value: accepted.into_value(), attempts, repairs });
            }
            AdmissionVerdict::Refused(violations) => violations,
        };
        heard(ExtractionProgress::Refused(&violations));
        match ReaskDecision::decide(contract, attempts, &violations, before.as_deref()) {
            ReaskDecision::Ask(complaint) => {
                question
                    .messages
                    .push(ChatMessage { role: ChatRole::Assistant, text: answer.text });
                question.messages.push(ChatMessage { role: ChatRole::User, text: complaint });
                (attempts, before) = (attempts + 1, Some(violations));
            }
            ReaskDecision::Exhausted | ReaskDecision::Repeated => {
                let (model, contract) = (model.name().to_owned(), contract.id.clone());
                return Err(ExtractionError::Refused { model, contract, attempts, violations });
            }
        }
    }
}
