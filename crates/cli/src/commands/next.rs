//! `countersign next RUN`: everything somebody needs who takes the model's place.

use std::sync::Arc;

use countersign_core::json;
use countersign_core::run::{Role, State, Wait, WaitKind, hand_in, prompt};
use countersign_runtime::recall::{Reminded, remind};
use countersign_runtime::watch::Unwatched;
use serde_json::{Value, json};

use crate::args::Next;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::output;

pub(super) fn run(args: &Next, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::open(&args.site, None, Arc::new(Unwatched))?;
        let run = house.run(args.run.as_deref()).await?;
        let live = house.engine.at(&run, None).await?;
        let asks = match prompt(&live.protocol, &live.state) {
            Some(prompt) => Asks::Model(Box::new(remind(&house.engine, &live, prompt).await)),
            None => without_model(&live.state),
        };
        if json {
            output::json(&next(&live.state, &asks));
        } else {
            output::data(&page(&live.state, &asks));
        }
        Ok(Exit::Good)
    })
}

/// What a run asks for, for programs.
fn next(state: &State, asks: &Asks) -> Value {
    let waits: Vec<Value> = state.waits.values().map(|wait| json!(wait)).collect();
    let mut next = json!({
        "run": state.run,
        "version": state.version,
        "status": state.status().as_str(),
        "phase": state.phase,
        "waits": waits,
        "closed_gates": state.closed,
    });
    match asks {
        Asks::Model(reminded) => {
            let Reminded { prompt, build } = &**reminded;
            next["build"] = json!(build);
            next["asks"] = json!("reply");
            next["action"] = json!(prompt.action);
            next["agent"] = json!(prompt.agent);
            next["attempt"] = json!(prompt.attempt);
            next["model"] = json!(prompt.model);
            next["purpose"] = json!(prompt.purpose.as_str());
            next["contract"] = contract(&prompt.contract);
            next["tools"] = prompt.tools.iter().map(|tool| tool.as_str()).collect();
            next["packet"] = prompt.packet.clone();
            next["system"] = json!(prompt.system);
            next["turns"] = json!(prompt.turns);
        }
        Asks::Patch => {
            next["asks"] = json!("patch");
            next["contract"] = contract(hand_in());
            next["packet"] = (*state.document).clone();
        }
        Asks::Nothing => next["asks"] = Value::Null,
    }
    next
}

enum Asks {
    Model(Box<Reminded>),
    Patch,
    Nothing,
}

/// What is asked for where no model is.
fn without_model(state: &State) -> Asks {
    // Where somebody is asked for more than a change by hand, that comes first.
    let by_hand = |wait: &Wait| matches!(wait.kind, WaitKind::Work | WaitKind::Trouble);
    let idle = state.pending.is_empty() && state.end.is_none();
    let open = idle && !state.closed.is_empty() && state.waits.values().all(by_hand);
    if open { Asks::Patch } else { Asks::Nothing }
}

fn contract(contract: &countersign_core::contract::Contract) -> Value {
    json!({
        "id": contract.id,
        "version": contract.version,
        "digest": contract.digest,
        "intake": contract.intake.as_str(),
        "schema": contract.schema.source(),
        "rules": contract.rules.iter().map(|rule| json!({ "id": rule.id, "says": rule.says })).collect::<Vec<_>>(),
    })
}

fn page(state: &State, asks: &Asks) -> String {
    let head =
        format!("run {} is {} in phase {}\n", state.run, state.status().as_str(), state.phase);
    match asks {
        Asks::Model(reminded) => {
            let prompt = &reminded.prompt;
            let mut text = format!(
                "{head}It asks for a reply under contract {} (order {}, try {}).\n\n{}\n",
                prompt.contract.id, prompt.action, prompt.attempt, prompt.system
            );
            for turn in &prompt.turns {
                let who = match turn.role {
                    Role::User => "Asked",
                    Role::Assistant => "Replied",
                };
                text.push_str(&format!("\n── {who}\n{}\n", turn.text.trim_end()));
            }
            text.push_str(&format!("\nHand it in with: countersign submit {} FILE\n", state.run));
            text
        }
        Asks::Patch => {
            let mut text = format!("{head}It asks for a patch that opens a way.\n\n");
            for gate in &state.closed {
                text.push_str(&format!("  → {}: {}\n", gate.to, gate.reason));
            }
            text.push_str(&format!(
                "\nContract {}:\n{}\n\nHand it in with: countersign submit {} FILE\n",
                hand_in().id,
                json::canonical(hand_in().schema.source()),
                state.run
            ));
            text
        }
        Asks::Nothing if state.waits.is_empty() => format!("{head}It asks for nothing.\n"),
        Asks::Nothing => {
            let mut text = format!("{head}It waits for a person:\n");
            for wait in state.waits.values() {
                text.push_str(&format!(
                    "  {}/{}  {}  {}\n",
                    state.run,
                    wait.id,
                    wait.kind.as_str(),
                    wait.question
                ));
            }
            text
        }
    }
}
