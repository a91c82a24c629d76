//! Asking the model of a step, and telling the run what came of it.

use std::sync::Arc;

use countersign_core::contract::{Contract, export};
use countersign_core::json::{Repair, RepairKind, RepairLevel, Span, read, sha256};
use countersign_core::protocol::Protocol;
use countersign_core::run::{Exchange, Incoming, ModelReply, Prompt, Role, State, Usage, prompt};
use countersign_models::{Answer, Ask, ModelError, Position, Price, Sent, cost, measured};
use countersign_store::Blob;

use super::models::Models;
use super::perform::{Done, refused};
use crate::engine::{Engine, Live};
use crate::recall::{Reminded, remind};
use crate::trust::{ActionGuard, WantedAction};
use crate::watch::Watch;

/// Asks the model of the step that is out.
pub(super) async fn ask(
    engine: &Engine,
    models: &dyn Models,
    guard: &ActionGuard,
    live: &Live,
    action: &str,
) -> Done {
    let Live { state, protocol, .. } = live;
    let prompt = prompt(protocol, state)?;
    let name = prompt.model.clone()?;
    // Also where the run names it: a run may come from another machine, and keys go with a prompt.
    if let Some(wanted) = WantedAction::from_model(&name)
        && let Err(reason) = guard.permit(&state.run, protocol, wanted).await
    {
        return Some(refused(reason));
    }
    let model = match models.find(&name) {
        Ok(Some(model)) => model,
        Ok(None) => return None,
        Err(message) => {
            let (action, failure) = (action.to_owned(), "no_model".to_owned());
            let what = Incoming::ModelFailed {
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
    let Reminded { prompt, build } = remind(engine, live, prompt).await;
    let asked = asked(&prompt, state);
    let writer = Writer { watch: &**engine.watch(), state, order: action };
    let mut live = |text: &str| writer.watch.writing(state, action, text);
    match measured(&*model, &asked, Some(&state.run), &mut live).await {
        Ok(mut answer) => {
            let mut repairs = Vec::new();
            if let Some((text, repair)) = meant(&answer, asked.contract.as_deref()) {
                answer.text = text;
                repairs.push(repair);
            }
            // The log has the name that was asked for, not where this machine found it.
            if answer.model == model.name() {
                answer.model.clone_from(&name);
            }
            Some(replied(protocol, &name, action, answer, build, repairs))
        }
        Err(error) => Some(failed(action, &ModelError { model: name, ..error })),
    }
}

/// A model that writes; whoever watches is told when it does no more, also where nobody waits for it.
struct Writer<'a> {
    watch: &'a dyn Watch,
    state: &'a State,
    order: &'a str,
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.watch.wrote(self.state, self.order);
    }
}

fn asked(prompt: &Prompt, state: &State) -> Ask {
    let turns = prompt.turns.iter().map(|turn| countersign_models::Turn {
        role: match turn.role {
            Role::User => countersign_models::Role::User,
            Role::Assistant => countersign_models::Role::Assistant,
        },
        text: turn.text.clone(),
    });
    // A reply may ask for tools instead, which the contract alone does not know; either is an object.
    let object = !prompt.tools.is_empty();
    let contract = (!object).then(|| Arc::clone(&prompt.contract));
    let before = |count: u64| count.saturating_sub(1) as usize;
    let under_label = before(state.spent_of(&format!("calls@{}", state.phase)));
    Ask {
        system: prompt.system.clone(),
        turns: turns.collect(),
        contract,
        object,
        temperature: prompt.temperature,
        max_tokens: prompt.max_tokens,
        label: Some(prompt.phase.clone()),
        position: Some(Position { in_run: before(state.calls), under_label }),
    }
}

/// What a model said where its provider's schema left it no way but null to leave a field out, and the
/// repair that this is; `None` where there is no such null. The bytes that came are kept as they came.
pub(crate) fn meant(answer: &Answer, contract: Option<&Contract>) -> Option<(String, Repair)> {
    let (Sent::Schema(target), true) = (answer.sent, answer.drop_nulls) else { return None };
    let reading = read(&answer.text, RepairLevel::None).ok()?;
    if !reading.flaws.is_empty() {
        return None;
    }
    let mut value = reading.value.clone();
    export(contract?, target).drop_nulls(&mut value);
    let whole = Span { start: 0, end: answer.text.len() };
    let repair = Repair::new(RepairKind::NullForAbsent, whole);
    (value != reading.value).then(|| (value.to_string(), repair))
}

fn replied(
    protocol: &Protocol,
    name: &str,
    action: &str,
    answer: Answer,
    build: Option<String>,
    repairs: Vec<Repair>,
) -> (Incoming, Vec<Blob>) {
    let usage = answer.usage.unwrap_or_default();
    let price = protocol.policy.prices.get(name).map(|(input, output)| Price {
        input_per_million: *input,
        output_per_million: *output,
        cached_per_million: None,
    });
    let (exchange, blobs) = kept(&answer.exchange);
    let sent = match answer.sent {
        Sent::Schema(_) => "schema",
        Sent::JsonMode => "json_mode",
        Sent::Nothing => "nothing",
    };
    let reply = ModelReply {
        action: action.to_owned(),
        text: answer.text,
        finish: answer.finish,
        // A script is told by the name it was given: where it lies is nobody's business.
        by: if name.starts_with("script:") { name.to_owned() } else { answer.model },
        // A script has nobody to be held.
        sent: exchange.is_some().then(|| sent.to_owned()),
        usage: Usage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost: price.map_or(0, |price| cost(usage, price)),
        },
        exchange,
        build,
        repairs,
    };
    (Incoming::ModelReplied(Box::new(reply)), blobs)
}

fn failed(action: &str, error: &ModelError) -> (Incoming, Vec<Blob>) {
    let (exchange, blobs) = error.exchange.as_deref().map(kept).unwrap_or_default();
    let wait = error.retry_after().map(|wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
    let what = Incoming::ModelFailed {
        action: action.to_owned(),
        failure: error.kind().to_owned(),
        message: error.to_string(),
        retryable: error.retryable(),
        retry_after: wait,
        exchange,
    };
    (what, blobs)
}

/// The bytes of an exchange as blobs, and what the log says of them.
fn kept(exchange: &countersign_models::Exchange) -> (Option<Exchange>, Vec<Blob>) {
    if exchange.request.is_empty() && exchange.response.is_empty() {
        return (None, Vec::new());
    }
    let blob = |bytes: &[u8]| Blob { digest: sha256(&[bytes]), bytes: bytes.to_vec() };
    let (request, response) = (blob(&exchange.request), blob(&exchange.response));
    let told = Exchange { request: request.digest.clone(), response: response.digest.clone() };
    (Some(told), vec![request, response])
}

#[cfg(test)]
mod tests {
    use countersign_core::contract::{Target, load_inline};
    use countersign_core::reply::Finish;

    use super::*;

    const CONTRACT: &str = "id: verdict\nversion: 1.0.0\nschema: { type: object, additionalProperties: false, required: [score], properties: { score: { type: integer }, note: { type: string } } }";

    fn answer(text: &str, sent: Sent, drop_nulls: bool) -> Answer {
        Answer {
            text: text.to_owned(),
            finish: Finish::Stop,
            reason: "stop".to_owned(),
            usage: None,
            model: "m".to_owned(),
            exchange: countersign_models::Exchange::default(),
            sent,
            drop_nulls,
        }
    }

    #[test]
    fn a_null_that_means_absence_is_taken_out_before_the_door() {
        let contract = load_inline(CONTRACT).unwrap();
        let told = Sent::Schema(Target::OpenAi);
        let said = |text, sent, drop| meant(&answer(text, sent, drop), Some(&contract));
        let (text, repair) = said(r#"{"score":1,"note":null}"#, told, true).unwrap();
        assert_eq!((&*text, repair.kind.as_str()), (r#"{"score":1}"#, "null_for_absent"));
        assert_eq!((repair.class.as_str(), repair.span.end), ("lossless", 23));
        assert_eq!(said(r#"{"score": 1.0}"#, told, true), None, "nothing is changed but nulls");
        assert_eq!(said(r#"{"score":1,"note":null}"#, told, false), None);
        assert_eq!(said(r#"{"score":1,"note":null}"#, Sent::JsonMode, true), None);
        assert_eq!(said(r#"{"score":1,"score":2}"#, told, true), None, "the door will say why not");
        assert_eq!(said("sure", told, true), None);
    }
}
