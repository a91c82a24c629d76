//! `countersign memory candidates | promote | refuse`: lists pending candidates and decides on
//! them.

use countersign_memory::MemorySubject;
use countersign_memory::record::{CandidateState, ClaimCandidate, MemoryClaim};
use countersign_memory::rules::ClaimAssurance;
use countersign_memory::store::{Memory, MemoryError};
use countersign_runtime::memory_context::IngestedItem;
use countersign_view::show::truncate_line;
use countersign_view::wire::SavedMemoryRow;
use serde_json::{Value, json};

use super::open_memory;
use super::remember::describe_outcome;
use crate::args::{MemoryCandidatesArgs, MemoryPromoteArgs, MemoryRefuseArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, GOOD, HEADING};
use crate::table::render_table;

/// The maximum width of the text column, in terminal columns.
const MAX_TEXT_WIDTH: usize = 48;

pub(super) fn list_candidates(
    whose: &ScopeArgs,
    args: &MemoryCandidatesArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let subject = open_memory::resolve_scope(whose)?.subject();
    let Some(memory) = open_memory::find_memory(whose)? else {
        print_candidates(&[], json, open_memory::NO_MEMORY_MESSAGE);
        return Ok(CliExit::Success);
    };
    block_on(async {
        let mut all = memory.list_candidates(&subject, usize::MAX).await?;
        if !args.all {
            all.retain(|candidate| candidate.state == CandidateState::Proposed);
        }
        all.truncate(args.limit);
        print_candidates(
            &all,
            json,
            "no candidate waits for a decision; `countersign memory propose` asks a model for some",
        );
        Ok(CliExit::Success)
    })
}

pub(super) fn promote_candidate(
    whose: &ScopeArgs,
    args: &MemoryPromoteArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let (scope, now) = (open_memory::resolve_scope(whose)?, open_memory::resolve_now(whose)?);
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let candidate = resolve_candidate(&*memory, &scope.subject(), &args.candidate).await?;
        let id = candidate.id.clone();
        // An insight belongs to the run that produced it.
        let run = match &candidate.claim {
            MemoryClaim::Insight(insight) => insight.run.as_str(),
            _ => scope.run(),
        };
        let scope =
            open_memory::build_scope(whose, scope.user(), scope.agent(), scope.session(), run)?;
        let assurance =
            if args.confirmed { ClaimAssurance::Confirmed } else { ClaimAssurance::Claimed };
        match memory.promote_candidate(&scope, &id, assurance, now).await? {
            Ok(kept) => {
                let done = IngestedItem {
                    kind: claim_kind(&candidate.claim),
                    id: kept.id,
                    revision: kept.revision.into(),
                    outcome: kept.outcome,
                };
                if json {
                    let mut report = json!(SavedMemoryRow::from(&done));
                    report["candidate"] = id.into();
                    output::print_json(&report);
                } else {
                    output::print_message(&describe_outcome(&done));
                }
                Ok(CliExit::Success)
            }
            Err(refusal) => {
                if json {
                    output::print_json(&json!({ "candidate": id, "refused": refusal.to_string() }));
                } else {
                    output::print_message(&format!("{BAD}refused{BAD:#} {id}: {refusal}"));
                }
                Ok(CliExit::Refused)
            }
        }
    })
}

pub(super) fn refuse_candidate(
    whose: &ScopeArgs,
    args: &MemoryRefuseArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let (scope, now) = (open_memory::resolve_scope(whose)?, open_memory::resolve_now(whose)?);
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let id = resolve_candidate(&*memory, &scope.subject(), &args.candidate).await?.id;
        memory.refuse_candidate(&scope, &id, &args.reason, now).await?;
        if json {
            output::print_json(&json!({ "candidate": id, "refused": args.reason }));
        } else {
            output::print_message(&format!("refused {id}: {}", args.reason));
        }
        Ok(CliExit::Success)
    })
}

/// Resolves the one candidate that a name refers to.
async fn resolve_candidate(
    memory: &dyn Memory,
    subject: &MemorySubject,
    name: &str,
) -> Result<ClaimCandidate, CliError> {
    let mut all = memory.list_candidates(subject, usize::MAX).await?;
    if let Some(index) = all.iter().position(|candidate| candidate.id == name) {
        return Ok(all.swap_remove(index));
    }
    all.retain(|candidate| !name.is_empty() && candidate.id.starts_with(name));
    match all.len() {
        0 => Err(MemoryError::NotFound { kind: "candidate", id: name.to_owned() }.into()),
        1 => Ok(all.swap_remove(0)),
        several => Err(CliError::Usage(format!(
            "`{name}` matches {several} candidates: {}",
            all.iter().map(|candidate| candidate.id.as_str()).collect::<Vec<_>>().join(", ")
        ))),
    }
}

fn print_candidates(all: &[ClaimCandidate], json: bool, empty: &str) {
    if json {
        output::print_json(&all.iter().map(candidate_to_json).collect());
    } else if all.is_empty() {
        output::print_message(empty);
    } else {
        output::print_data(&render_candidates(all));
    }
}

/// Renders candidates as a table.
pub(super) fn render_candidates(all: &[ClaimCandidate]) -> String {
    let rows: Vec<[String; 5]> = all.iter().map(format_row).collect();
    render_table(["CANDIDATE", "KIND", "CONTENT", "SUPPORTED BY", "STATE"], &rows)
}

fn format_row(candidate: &ClaimCandidate) -> [String; 5] {
    let (what, rests_on) = match &candidate.claim {
        MemoryClaim::Fact(fact) => {
            let value = fact.value.as_str().map_or_else(|| fact.value.to_string(), str::to_owned);
            let pieces = fact.evidence.iter().map(|piece| match &piece.quote {
                Some(quote) => {
                    format!("{}: \"{}\"", piece.event, truncate_line(quote, MAX_TEXT_WIDTH))
                }
                None => piece.event.clone(),
            });
            (format!("{}: {value}", fact.key), pieces.collect::<Vec<_>>().join(", "))
        }
        MemoryClaim::Episode(episode) => (episode.summary.clone(), episode.sources.join(", ")),
        MemoryClaim::Procedure(procedure) => {
            (procedure.task_type.clone(), procedure.sources.join(", "))
        }
        MemoryClaim::Insight(insight) => (insight.statement.clone(), insight.sources.join(", ")),
    };
    let state = match &candidate.state {
        CandidateState::Proposed => "waits".to_owned(),
        CandidateState::Promoted { id } => format!("{GOOD}promoted{GOOD:#} as {id}"),
        CandidateState::Refused { reason } => format!("{BAD}refused{BAD:#}: {reason}"),
    };
    let id = format!("{HEADING}{}{HEADING:#}", candidate.id);
    [
        id,
        claim_kind(&candidate.claim).to_owned(),
        truncate_line(&what, MAX_TEXT_WIDTH),
        rests_on,
        state,
    ]
}

/// Returns a candidate as JSON.
pub(super) fn candidate_to_json(candidate: &ClaimCandidate) -> Value {
    let ClaimCandidate { id, origin, claim, state, recorded_at, .. } = candidate;
    let claim = match claim {
        MemoryClaim::Fact(fact) => json!(fact),
        MemoryClaim::Episode(episode) => json!(episode),
        MemoryClaim::Procedure(procedure) => json!(procedure),
        MemoryClaim::Insight(insight) => json!(insight),
    };
    json!({
        "id": id,
        "kind": claim_kind(&candidate.claim),
        "origin": origin,
        "claim": claim,
        "state": state,
        "recorded_at": recorded_at,
    })
}

pub(super) fn claim_kind(claim: &MemoryClaim) -> &'static str {
    match claim {
        MemoryClaim::Fact(_) => "fact",
        MemoryClaim::Episode(_) => "episode",
        MemoryClaim::Procedure(_) => "procedure",
        MemoryClaim::Insight(_) => "insight",
    }
}
