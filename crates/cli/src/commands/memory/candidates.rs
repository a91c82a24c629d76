//! `countersign memory candidates | promote | refuse`: lists pending candidates and decides on
//! them.

use countersign_memory::record::{CandidateState, ClaimCandidate, MemoryClaim};
use countersign_memory::rules::ClaimAssurance;
use countersign_memory::store::MemoryError;
use countersign_runtime::memory_context::{self, MemoryDecisionError, describe_claim_kind};
use countersign_view::show::truncate_line;
use countersign_view::wire::{MemoryCandidateView, SavedMemoryRow};
use serde_json::json;

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
    let assurance =
        if args.confirmed { ClaimAssurance::Confirmed } else { ClaimAssurance::Claimed };
    block_on(async {
        let candidate =
            memory_context::find_candidate(&*memory, &scope.subject(), &args.candidate).await?;
        let id = candidate.id;
        let promoted =
            memory_context::promote_candidate(&*memory, &scope, &id, assurance, now).await;
        match promoted {
            Ok((_, done)) => {
                if json {
                    let mut report = json!(SavedMemoryRow::from(&done));
                    report["candidate"] = id.into();
                    output::print_json(&report);
                } else {
                    output::print_message(&describe_outcome(&done));
                }
                Ok(CliExit::Success)
            }
            Err(MemoryDecisionError::Memory(MemoryError::Refused(refusal))) => {
                if json {
                    output::print_json(&json!({ "candidate": id, "refused": refusal.to_string() }));
                } else {
                    output::print_message(&format!("{BAD}refused{BAD:#} {id}: {refusal}"));
                }
                Ok(CliExit::Refused)
            }
            Err(error) => Err(error.into()),
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
        let (name, reason) = (&args.candidate, &args.reason);
        let id = memory_context::refuse_candidate(&*memory, &scope, name, reason, now).await?;
        if json {
            output::print_json(&json!({ "candidate": id, "refused": args.reason }));
        } else {
            output::print_message(&format!("refused {id}: {}", args.reason));
        }
        Ok(CliExit::Success)
    })
}

fn print_candidates(all: &[ClaimCandidate], json: bool, empty: &str) {
    if json {
        output::print_json(&json!(all.iter().map(MemoryCandidateView::from).collect::<Vec<_>>()));
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
        describe_claim_kind(&candidate.claim).to_owned(),
        truncate_line(&what, MAX_TEXT_WIDTH),
        rests_on,
        state,
    ]
}
