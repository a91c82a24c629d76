//! `countersign memory propose`: a model reads the latest events and proposes what is worth remembering.

use std::sync::Arc;

use countersign_memory::record::Candidate;
use countersign_models::{Model, ModelSpec, connect};
use countersign_runtime::learn::{Heard, LearnError, Proposals, propose};
use serde_json::{Value, json};

use super::{candidates, desk};
use crate::args::{Propose, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::settings::env;
use crate::show::{BAD, DIM, GOOD, HEADING};

pub(super) fn run(whose: &Whose, args: &Propose, json: bool) -> Result<Exit, Error> {
    let (scope, now) = (desk::scope(whose)?, desk::now(whose)?);
    let model = model(args.model.as_deref())?;
    let memory = desk::look(whose)?;
    wait(async {
        let events = args.events;
        let asked = propose(&*memory, &*model, &scope, events, now, &mut heard(json)).await;
        output::passing("");
        match asked {
            Ok(proposals) => {
                tell(&proposals, json);
                Ok(Exit::Good)
            }
            Err(error) => refused(error, json),
        }
    })
}

/// The model that is meant: flag over environment over file.
pub(super) fn model(flag: Option<&str>) -> Result<Arc<dyn Model>, Error> {
    let settings = desk::settings(flag)?;
    settings.permit_server(&settings.model)?;
    let name = settings.model.value.ok_or_else(|| {
        Error::Usage(
            "which model? `--model` is missing; `COUNTERSIGN_MODEL` and `model` in countersign.toml say it too"
                .to_owned(),
        )
    })?;
    let usage = |error: &dyn std::fmt::Display| Error::Usage(format!("`--model`: {error}"));
    let spec: ModelSpec = name.parse().map_err(|error| usage(&error))?;
    if spec == ModelSpec::Human {
        return Err(Error::Usage(
            "`--model`: a person needs no contract to be remembered; `countersign memory remember` does it"
                .to_owned(),
        ));
    }
    let settings = countersign_models::Settings::from_env(&env).map_err(|error| usage(&error))?;
    connect(&spec, &settings).map_err(|error| usage(&error))
}

/// Tells what is heard while a model is asked.
pub(super) fn heard(json: bool) -> impl FnMut(Heard<'_>) + Send {
    let mut written = 0;
    move |heard| match heard {
        _ if json => {}
        Heard::Writing(text) => {
            written += text.chars().count();
            output::passing(&format!("… the model is writing, {written} characters"));
        }
        Heard::Refused(violations) => {
            written = 0;
            output::passing("");
            output::talk(&format!("{BAD}refused{BAD:#}"));
            for violation in violations {
                output::talk(&format!("  {violation}"));
            }
        }
    }
}

/// A reply that no contract lets in is an answer; anything else is a fault.
pub(super) fn refused(error: LearnError, json: bool) -> Result<Exit, Error> {
    match error {
        LearnError::Refused { ref violations, ref model, attempts, .. } => {
            if json {
                output::json(&json!({
                    "model": model,
                    "attempts": attempts,
                    "violations": violations,
                    "errors": [{ "message": error.to_string() }],
                }));
            } else {
                output::talk(&format!("{error}. Nothing was written."));
            }
            Ok(Exit::Refused)
        }
        LearnError::Memory(error) => Err(error.into()),
        LearnError::Model(error) => Err(Error::Model(error)),
        LearnError::Nothing { .. } => Err(Error::Usage(error.to_string())),
    }
}

fn tell(proposals: &Proposals, json: bool) {
    let Proposals { new, known, refused, shown, attempts } = proposals;
    if json {
        let refused: Vec<Value> =
            refused.iter().map(|(id, why)| json!({ "id": id, "reason": why })).collect();
        output::json(&json!({
            "new": new.iter().map(candidates::listed).collect::<Vec<_>>(),
            "known": known,
            "refused": refused,
            "events": shown,
            "attempts": attempts,
        }));
        return;
    }
    if !new.is_empty() {
        output::data(&candidates::page(new));
    }
    for (id, why) in refused {
        output::talk(&format!("{BAD}not taken{BAD:#}: {id}: {why}"));
    }
    output::talk(&account(new, *known, *shown, *attempts));
}

fn account(new: &[Candidate], known: usize, shown: usize, attempts: u32) -> String {
    let read = desk::counted(shown as u64, "event");
    let tries = if attempts > 1 { format!(" on try {attempts}") } else { String::new() };
    let known = match known {
        0 => String::new(),
        known => format!(", {known} known before"),
    };
    match new.first() {
        None => format!("{read} read{tries}; nothing new is proposed{known}"),
        Some(first) => format!(
            "{read} read{tries}; {GOOD}{} proposed{GOOD:#}{known}. {DIM}Rule on them:{DIM:#} `countersign memory promote {HEADING}{}{HEADING:#}`, or `refuse`",
            desk::counted(new.len() as u64, "candidate"),
            first.id
        ),
    }
}
