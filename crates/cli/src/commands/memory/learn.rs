//! `countersign memory validate | reject | learn`: records a person's decision on an insight, and
//! the claims derived from it.

use countersign_memory::MemoryScope;
use countersign_memory::record::{MemoryClaim, MemoryOrigin};
use countersign_memory::rules::MemoryRefusal;
use countersign_memory::store::MemoryError;
use countersign_run::Timestamp;
use countersign_runtime::memory_context::{
    self, IngestedItem, InputAuthor, MemoryDecisionError, MemoryInput, MemoryWrite, to_memory_write,
};
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_view::wire::SavedMemoryRow;
use serde_json::json;

use super::item_flags::{parse_key_value, read_object};
use super::open_memory;
use super::remember::describe_outcome;
use crate::args::{MemoryInsightArgs, MemoryLearnArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, HEADING};

pub(super) fn validate_insight(
    whose: &ScopeArgs,
    args: &MemoryInsightArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    set_validation(whose, args, InsightValidationState::Validated, json)
}

pub(super) fn reject_insight(
    whose: &ScopeArgs,
    args: &MemoryInsightArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    set_validation(whose, args, InsightValidationState::Rejected, json)
}

fn set_validation(
    whose: &ScopeArgs,
    args: &MemoryInsightArgs,
    validation: InsightValidationState,
    json: bool,
) -> Result<CliExit, CliError> {
    let (scope, now) = (open_memory::resolve_scope(whose)?, open_memory::resolve_now(whose)?);
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let id = memory_context::find_insight(&*memory, &scope.subject(), &args.insight).await?.id;
        let kept = memory_context::decide_insight(&*memory, &scope, &id, validation, now).await;
        report_outcome(kept, &id, json, |done| {
            let word = json!(validation);
            let word = word.as_str().unwrap_or_default();
            format!("{} {HEADING}{}{HEADING:#} is now {word}", done.kind, done.id)
        })
    })
}

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemoryLearnArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let (scope, now) = (open_memory::resolve_scope(whose)?, open_memory::resolve_now(whose)?);
    let claim = parse_claim(args, &scope, now)?;
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let id = memory_context::find_insight(&*memory, &scope.subject(), &args.insight).await?.id;
        let origin = MemoryOrigin::User;
        let kept =
            memory_context::learn_from_insight(&*memory, &scope, &id, claim, origin, now).await;
        report_outcome(kept, &id, json, describe_outcome)
    })
}

/// Returns the fact or the procedure that the flags describe.
fn parse_claim(
    args: &MemoryLearnArgs,
    scope: &MemoryScope,
    now: Timestamp,
) -> Result<MemoryClaim, CliError> {
    let (fact, value) = match args.item.fact.as_deref().map(parse_key_value).transpose()? {
        Some((key, value)) => (Some(key), Some(value)),
        None => (None, None),
    };
    let input = MemoryInput {
        fact,
        value,
        procedure: read_object("--procedure", args.item.procedure.as_deref())?,
        id: args.id.clone(),
        confidence: args.confidence,
        preference: args.preference,
        notes: args.notes.clone(),
        valid_from: args.valid_from.clone(),
        valid_to: args.valid_to.clone(),
        task_type: args.task_type.clone(),
        priority: args.priority,
        tags: args.tags.clone(),
        entities: args.entities.clone(),
        ..MemoryInput::default()
    };
    match to_memory_write(input, InputAuthor::Person, scope, now).map_err(CliError::Usage)? {
        MemoryWrite::Claim { claim, .. } => Ok(claim),
        _ => unreachable!("a fact or a procedure is a claim"),
    }
}

/// Reports what was stored for an insight, or why nothing was.
fn report_outcome(
    kept: Result<(String, IngestedItem), MemoryDecisionError>,
    insight: &str,
    json: bool,
    says: impl Fn(&IngestedItem) -> String,
) -> Result<CliExit, CliError> {
    let refusal = match kept {
        Ok((_, done)) => {
            if json {
                let mut report = json!(SavedMemoryRow::from(&done));
                report["insight"] = insight.into();
                output::print_json(&report);
            } else {
                output::print_message(&says(&done));
            }
            return Ok(CliExit::Success);
        }
        Err(MemoryDecisionError::Memory(MemoryError::Refused(refusal))) => refusal,
        Err(other) => return Err(other.into()),
    };
    if json {
        output::print_json(&json!({ "insight": insight, "refused": refusal.to_string() }));
    } else {
        let help = match refusal {
            MemoryRefusal::NotValidated { .. } => {
                format!("; when it has been tested, use `countersign memory validate {insight}`")
            }
            _ => String::new(),
        };
        output::print_message(&format!("{BAD}refused{BAD:#}: {refusal}{help}"));
    }
    Ok(CliExit::Refused)
}
