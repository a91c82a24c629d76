//! `countersign memory propose`: a model reads the latest events and proposes memory items.

use std::sync::Arc;

use countersign_memory::record::ClaimCandidate;
use countersign_models::{ChatModel, ModelSpec, connect_model};
use countersign_runtime::memory_extraction::{
    ExtractionError, ExtractionProgress, ExtractionReport, extract_candidates,
};
use countersign_view::wire::MemoryCandidateView;
use serde_json::{Value, json};

use super::{candidates, open_memory};
use crate::args::{MemoryProposeArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, DIM, GOOD, HEADING};
use crate::settings::env_var;

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemoryProposeArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let (scope, now) = (open_memory::resolve_scope(whose)?, open_memory::resolve_now(whose)?);
    let model = connect_selected_model(args.model.as_deref())?;
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let events = args.events;
        let proposal =
            extract_candidates(&*memory, &*model, &scope, events, now, &mut progress_printer(json))
                .await;
        output::print_transient("");
        match proposal {
            Ok(proposals) => {
                print_proposals(&proposals, json);
                Ok(CliExit::Success)
            }
            Err(error) => report_refusal(error, json),
        }
    })
}

/// Connects to the model that a flag, the environment or the settings file names, in this order.
pub(super) fn connect_selected_model(flag: Option<&str>) -> Result<Arc<dyn ChatModel>, CliError> {
    let settings = open_memory::load_settings(flag)?;
    settings.permit_server(&settings.model)?;
    let name = settings.model.value.ok_or_else(|| {
        CliError::Usage(
            "`--model` is missing; you can also set `COUNTERSIGN_MODEL`, or `model` in countersign.toml"
                .to_owned(),
        )
    })?;
    let usage = |error: &dyn std::fmt::Display| CliError::Usage(format!("`--model`: {error}"));
    let spec: ModelSpec = name.parse().map_err(|error| usage(&error))?;
    if spec == ModelSpec::Human {
        return Err(CliError::Usage(
            "`--model`: a person cannot be the model here; store what you know with `countersign memory remember`"
                .to_owned(),
        ));
    }
    let settings =
        countersign_models::ModelSettings::from_env(&env_var).map_err(|error| usage(&error))?;
    connect_model(&spec, &settings).map_err(|error| usage(&error))
}

/// Prints progress while a model replies.
pub(super) fn progress_printer(json: bool) -> impl FnMut(ExtractionProgress<'_>) + Send {
    let mut written = 0;
    move |heard| match heard {
        _ if json => {}
        ExtractionProgress::Text(text) => {
            written += text.chars().count();
            output::print_transient(&format!("… the model is writing, {written} characters"));
        }
        ExtractionProgress::Refused(violations) => {
            written = 0;
            output::print_transient("");
            output::print_message(&format!("{BAD}refused{BAD:#}"));
            for violation in violations {
                output::print_message(&format!("  {violation}"));
            }
        }
    }
}

/// Reports a reply that the contract refused as a negative result; returns any other failure as an
/// error.
pub(super) fn report_refusal(error: ExtractionError, json: bool) -> Result<CliExit, CliError> {
    match error {
        ExtractionError::Refused { ref violations, ref model, attempts, .. } => {
            if json {
                output::print_json(&json!({
                    "model": model,
                    "attempts": attempts,
                    "violations": violations,
                    "errors": [{ "message": error.to_string() }],
                }));
            } else {
                output::print_message(&format!("{error}. Nothing was written."));
            }
            Ok(CliExit::Refused)
        }
        ExtractionError::Memory(error) => Err(error.into()),
        ExtractionError::Model(error) => Err(CliError::Model(error)),
        ExtractionError::NoEvents { .. } => Err(CliError::Usage(error.to_string())),
    }
}

fn print_proposals(proposals: &ExtractionReport, json: bool) {
    let ExtractionReport { new, already_known: known, refused, events_shown: shown, attempts } =
        proposals;
    if json {
        let refused: Vec<Value> =
            refused.iter().map(|(id, why)| json!({ "id": id, "reason": why })).collect();
        output::print_json(&json!({
            "new": new.iter().map(MemoryCandidateView::from).collect::<Vec<_>>(),
            "existing": known,
            "refused": refused,
            "events": shown,
            "attempts": attempts,
        }));
        return;
    }
    if !new.is_empty() {
        output::print_data(&candidates::render_candidates(new));
    }
    for (id, why) in refused {
        output::print_message(&format!("{BAD}not accepted{BAD:#}: {id}: {why}"));
    }
    output::print_message(&format_summary(new, *known, *shown, *attempts));
}

fn format_summary(new: &[ClaimCandidate], known: usize, shown: usize, attempts: u32) -> String {
    let read = open_memory::pluralize(shown as u64, "event");
    let tries = if attempts > 1 { format!(" on attempt {attempts}") } else { String::new() };
    let known = match known {
        0 => String::new(),
        known => format!(", {known} already known"),
    };
    match new.first() {
        None => format!("{read} read{tries}; nothing new proposed{known}"),
        Some(first) => format!(
            "{read} read{tries}; {GOOD}{} proposed{GOOD:#}{known}. {DIM}Decide with{DIM:#} `countersign memory promote {HEADING}{}{HEADING:#}`, or `refuse`",
            open_memory::pluralize(new.len() as u64, "candidate"),
            first.id
        ),
    }
}
