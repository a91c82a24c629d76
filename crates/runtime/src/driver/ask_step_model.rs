//! Asks the model of a step, and converts the outcome into an input for the run.

use std::sync::Arc;

use countersign_contract::contract::Contract;
use countersign_contract::json::{
    Repair, RepairKind, RepairLevel, TextSpan, parse_json, sha256_hex,
};
use countersign_models::{
    ModelCallIndex, ModelError, ModelRequest, ModelResponse, OutputConstraint, TokenPrice,
    complete_in_span, compute_cost,
};
use countersign_protocol::Protocol;
use countersign_run::{
    ExchangeDigests, InputKind, ModelReply, PromptRole, ReplyUsage, RunState, StepPrompt,
    render_prompt,
};
use countersign_schema_tools::export_contract;
use countersign_store::Blob;

use super::effect_executor::{PerformedAction, build_halt_input};
use super::model_resolver::ModelResolver;
use crate::engine::{Engine, LiveRun};
use crate::memory_recorder::{PromptWithMemory, add_memory_to_prompt};
use crate::run_observer::RunObserver;
use crate::trust::{ActionGuard, WantedAction};

/// Asks the model of the pending step.
pub(super) async fn ask_step_model(
    engine: &Engine,
    models: &dyn ModelResolver,
    guard: &ActionGuard,
    live: &LiveRun,
    action: &str,
) -> PerformedAction {
    let LiveRun { state, protocol, .. } = live;
    let prompt = render_prompt(protocol, state)?;
    let name = prompt.model.clone()?;
    // Check this also if the run names the model: a run may come from another machine, and a prompt
    // is sent with API keys.
    if let Some(wanted) = WantedAction::from_model(&name)
        && let Err(reason) = guard.permit(&state.run, protocol, wanted).await
    {
        return Some(build_halt_input(reason));
    }
    let model = match models.resolve_model(&name) {
        Ok(Some(model)) => model,
        Ok(None) => return None,
        Err(message) => {
            let (action, failure) = (action.to_owned(), "no_model".to_owned());
            let what = InputKind::ModelFailed {
                action,
                failure,
                message,
                retryable: false,
                retry_after: None,
                exchange: None,
            };
            return Some((what, Vec::new()));
        }
    };
    let PromptWithMemory { prompt, build } = add_memory_to_prompt(engine, live, prompt).await;
    let asked = build_model_request(&prompt, state);
    let writer = ModelStreamGuard { observer: &**engine.observer(), state, action };
    let mut live = |text: &str| writer.observer.on_model_text(state, action, text);
    match complete_in_span(&*model, &asked, Some(&state.run), &mut live).await {
        Ok(mut answer) => {
            let mut repairs = Vec::new();
            if let Some((text, repair)) = drop_null_fields(&answer, asked.contract.as_deref()) {
                answer.text = text;
                repairs.push(repair);
            }
            // The log records the requested name, not where this machine found the model.
            if answer.model == model.name() {
                answer.model.clone_from(&name);
            }
            Some(build_reply_input(protocol, &name, action, answer, build, repairs))
        }
        Err(error) => Some(build_failure_input(action, &ModelError { model: name, ..error })),
    }
}

/// Notifies the observer when the model stops streaming, also if the request is dropped.
struct ModelStreamGuard<'a> {
    observer: &'a dyn RunObserver,
    state: &'a RunState,
    action: &'a str,
}

impl Drop for ModelStreamGuard<'_> {
    fn drop(&mut self) {
        self.observer.on_model_done(self.state, self.action);
    }
}

fn build_model_request(prompt: &StepPrompt, state: &RunState) -> ModelRequest {
    let turns = prompt.messages.iter().map(|turn| countersign_models::ChatMessage {
        role: match turn.role {
            PromptRole::User => countersign_models::ChatRole::User,
            PromptRole::Assistant => countersign_models::ChatRole::Assistant,
        },
        text: turn.text.clone(),
    });
    // A reply may request tools instead, which the contract alone does not cover; both are objects.
    let object = !prompt.tools.is_empty();
    let contract = (!object).then(|| Arc::clone(&prompt.contract));
    let before = |count: u64| count.saturating_sub(1) as usize;
    let under_label = before(state.amount_spent(&format!("calls@{}", state.phase)));
    ModelRequest {
        system: prompt.system.clone(),
        messages: turns.collect(),
        contract,
        expects_object: object,
        temperature: prompt.temperature,
        max_tokens: prompt.max_tokens,
        label: Some(prompt.phase.clone()),
        call_index: Some(ModelCallIndex { in_run: before(state.model_calls), under_label }),
    }
}

/// Removes nulls from a reply if the provider's schema left the model no other way to omit a field.
/// Returns the changed text and the repair, or `None` if there is no such null. The received bytes
/// are stored unchanged.
pub(crate) fn drop_null_fields(
    answer: &ModelResponse,
    contract: Option<&Contract>,
) -> Option<(String, Repair)> {
    let (OutputConstraint::Schema(target), true) = (answer.constraint, answer.drop_nulls) else {
        return None;
    };
    let reading = parse_json(&answer.text, RepairLevel::None).ok()?;
    if !reading.data_losses.is_empty() {
        return None;
    }
    let mut value = reading.value.clone();
    export_contract(contract?, target).drop_nulls(&mut value);
    let whole = TextSpan { start: 0, end: answer.text.len() };
    let repair = Repair::new(RepairKind::NullForAbsent, whole);
    (value != reading.value).then(|| (value.to_string(), repair))
}

fn build_reply_input(
    protocol: &Protocol,
    name: &str,
    action: &str,
    answer: ModelResponse,
    build: Option<String>,
    repairs: Vec<Repair>,
) -> (InputKind, Vec<Blob>) {
    let usage = answer.usage.unwrap_or_default();
    let price = protocol.policy.prices.get(name).map(|(input, output)| TokenPrice {
        input_per_million: *input,
        output_per_million: *output,
        cached_per_million: None,
    });
    let (exchange, blobs) = exchange_to_blobs(&answer.exchange);
    let sent = match answer.constraint {
        OutputConstraint::Schema(_) => "schema",
        OutputConstraint::JsonMode => "json_mode",
        OutputConstraint::Unconstrained => "nothing",
    };
    let reply = ModelReply {
        action: action.to_owned(),
        text: answer.text,
        finish: answer.finish,
        // A script is recorded by the name it was given, so that its path on this machine is not
        // revealed.
        by: if name.starts_with("script:") { name.to_owned() } else { answer.model },
        // A script has no exchange, so no output constraint was sent.
        response_format: exchange.is_some().then(|| sent.to_owned()),
        usage: ReplyUsage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost: price.map_or(0, |price| compute_cost(usage, price)),
        },
        exchange,
        packet_build: build,
        repairs,
    };
    (InputKind::ModelReplied(Box::new(reply)), blobs)
}

fn build_failure_input(action: &str, error: &ModelError) -> (InputKind, Vec<Blob>) {
    let (exchange, blobs) = error.exchange.as_deref().map(exchange_to_blobs).unwrap_or_default();
    let wait = error.retry_after().map(|wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
    let what = InputKind::ModelFailed {
        action: action.to_owned(),
        failure: error.code().to_owned(),
        message: error.to_string(),
        retryable: error.is_retryable(),
        retry_after: wait,
        exchange,
    };
    (what, blobs)
}

/// Returns the digests of an exchange for the log, and its bytes as blobs.
fn exchange_to_blobs(
    exchange: &countersign_models::ModelExchange,
) -> (Option<ExchangeDigests>, Vec<Blob>) {
    if exchange.request.is_empty() && exchange.response.is_empty() {
        return (None, Vec::new());
    }
    let blob = |bytes: &[u8]| Blob { digest: sha256_hex(&[bytes]), bytes: bytes.to_vec() };
    let (request, response) = (blob(&exchange.request), blob(&exchange.response));
    let told =
        ExchangeDigests { request: request.digest.clone(), response: response.digest.clone() };
    (Some(told), vec![request, response])
}

#[cfg(test)]
mod tests {
    use countersign_contract::contract::load_inline_contract;
    use countersign_contract::reply::FinishReason;
    use countersign_schema_tools::ExportTarget;

    use super::*;

    const CONTRACT: &str = "id: verdict\nversion: 1.0.0\nschema: { type: object, additionalProperties: false, required: [score], properties: { score: { type: integer }, note: { type: string } } }";

    fn answer(text: &str, sent: OutputConstraint, drop_nulls: bool) -> ModelResponse {
        ModelResponse {
            text: text.to_owned(),
            finish: FinishReason::Stop,
            finish_reason: "stop".to_owned(),
            usage: None,
            model: "m".to_owned(),
            exchange: countersign_models::ModelExchange::default(),
            constraint: sent,
            drop_nulls,
        }
    }

    #[test]
    fn a_null_that_means_absence_is_taken_out_before_the_door() {
        let contract = load_inline_contract(CONTRACT).unwrap();
        let told = OutputConstraint::Schema(ExportTarget::OpenAi);
        let said = |text, sent, drop| drop_null_fields(&answer(text, sent, drop), Some(&contract));
        let (text, repair) = said(r#"{"score":1,"note":null}"#, told, true).unwrap();
        assert_eq!((&*text, repair.kind.as_str()), (r#"{"score":1}"#, "null_for_absent"));
        assert_eq!((repair.class.as_str(), repair.span.end), ("lossless", 23));
        assert_eq!(said(r#"{"score": 1.0}"#, told, true), None, "nothing is changed but nulls");
        assert_eq!(said(r#"{"score":1,"note":null}"#, told, false), None);
        assert_eq!(said(r#"{"score":1,"note":null}"#, OutputConstraint::JsonMode, true), None);
        assert_eq!(said(r#"{"score":1,"score":2}"#, told, true), None, "the door will say why not");
        assert_eq!(said("sure", told, true), None);
    }
}
