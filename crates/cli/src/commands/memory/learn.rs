//! `countersign memory validate | reject | learn`: records a person's decision on an insight, and
//! the claims derived from it.

use countersign_memory::record::{MemoryClaim, MemoryInsight, MemoryOrigin};
use countersign_memory::rules::{ClaimAssurance, MemoryRefusal};
use countersign_memory::store::{ClaimReceipt, Memory, MemoryError, MemoryExportRow};
use countersign_memory::{MemoryScope, MemorySubject};
use countersign_run::Timestamp;
use countersign_runtime::memory_context::{
    IngestedItem, InputAuthor, MemoryInput, MemoryWrite, to_memory_write,
};
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_view::wire::SavedMemoryRow;
use serde_json::json;

use super::candidates::claim_kind;
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
        let insight = resolve_insight(&*memory, &scope.subject(), &args.insight).await?;
        let id = insight.id.clone();
        // An insight belongs to the run that produced it.
        let (user, agent, session) = (scope.user(), scope.agent(), scope.session());
        let scope = open_memory::build_scope(whose, user, agent, session, &insight.run)?;
        let claim = MemoryClaim::Insight(Box::new(MemoryInsight { validation, ..insight }));
        let kept = memory
            .record_claim(&scope, claim, MemoryOrigin::User, ClaimAssurance::Confirmed, now)
            .await;
        report_outcome(kept, "insight", &id, json, |done| {
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
        let id = resolve_insight(&*memory, &scope.subject(), &args.insight).await?.id;
        let kind = claim_kind(&claim);
        let kept = memory.learn_from_insight(&scope, &id, claim, MemoryOrigin::User, now).await;
        report_outcome(kept, kind, &id, json, describe_outcome)
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

/// Resolves the one insight that a name refers to, in any run.
async fn resolve_insight(
    memory: &dyn Memory,
    subject: &MemorySubject,
    name: &str,
) -> Result<MemoryInsight, CliError> {
    let lines = memory.export(subject).await?;
    let insight = |row: MemoryExportRow| match row {
        MemoryExportRow::Insight(insight) => Some(*insight),
        _ => None,
    };
    let mut all: Vec<MemoryInsight> =
        lines.into_iter().filter_map(|line| insight(line.row)).collect();
    if let Some(index) = all.iter().position(|insight| insight.id == name) {
        return Ok(all.swap_remove(index));
    }
    all.retain(|insight| !name.is_empty() && insight.id.starts_with(name));
    match all.len() {
        0 => Err(MemoryError::NotFound { kind: "insight", id: name.to_owned() }.into()),
        1 => Ok(all.swap_remove(0)),
        several => Err(CliError::Usage(format!(
            "`{name}` matches {several} insights: {}",
            all.iter().map(|insight| insight.id.as_str()).collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// Reports what was stored for an insight, or why nothing was.
fn report_outcome(
    kept: Result<ClaimReceipt, MemoryError>,
    kind: &'static str,
    insight: &str,
    json: bool,
    says: impl Fn(&IngestedItem) -> String,
) -> Result<CliExit, CliError> {
    let refusal = match kept {
        Ok(ClaimReceipt { id, revision, outcome }) => {
            let done = IngestedItem { kind, id, revision: revision.into(), outcome };
            if json {
                let mut report = json!(SavedMemoryRow::from(&done));
                report["insight"] = insight.into();
                output::print_json(&report);
            } else {
                output::print_message(&says(&done));
            }
            return Ok(CliExit::Success);
        }
        Err(MemoryError::Refused(refusal)) => refusal,
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
