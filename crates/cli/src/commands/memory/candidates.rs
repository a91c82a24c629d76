//! `countersign memory candidates | promote | refuse`: what waits for a ruling, and the ruling.

use countersign_memory::Subject;
use countersign_memory::record::{Candidate, CandidateState, Claim};
use countersign_memory::rules::Assurance;
use countersign_memory::store::{Memory, MemoryError};
use countersign_runtime::remember::Done;
use countersign_server::show::shortened;
use countersign_server::wire::KeptRow;
use serde_json::{Value, json};

use super::desk;
use super::remember::sentence;
use crate::args::{Candidates, Promote, Refuse, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::{BAD, GOOD, HEADING};
use crate::table::table;

/// So many columns of what was said.
const WORDS: usize = 48;

pub(super) fn list(whose: &Whose, args: &Candidates, json: bool) -> Result<Exit, Error> {
    let subject = desk::scope(whose)?.subject();
    let Some(memory) = desk::find(whose)? else {
        tell(&[], json, desk::NOTHING);
        return Ok(Exit::Good);
    };
    wait(async {
        let mut all = memory.candidates(&subject, usize::MAX).await?;
        if !args.all {
            all.retain(|candidate| candidate.state == CandidateState::Proposed);
        }
        all.truncate(args.limit);
        tell(&all, json, "nothing waits for a ruling; `countersign memory propose` asks a model");
        Ok(Exit::Good)
    })
}

pub(super) fn promote(whose: &Whose, args: &Promote, json: bool) -> Result<Exit, Error> {
    let (scope, now) = (desk::scope(whose)?, desk::now(whose)?);
    let memory = desk::look(whose)?;
    wait(async {
        let candidate = named(&*memory, &scope.subject(), &args.candidate).await?;
        let id = candidate.id.clone();
        // A guess belongs to the run that had it.
        let run = match &candidate.claim {
            Claim::Insight(insight) => insight.run.as_str(),
            _ => scope.run(),
        };
        let scope = desk::within(whose, scope.user(), scope.agent(), scope.session(), run)?;
        let assurance = if args.confirmed { Assurance::Confirmed } else { Assurance::Claimed };
        match memory.promote(&scope, &id, assurance, now).await? {
            Ok(kept) => {
                let done = Done {
                    kind: kind(&candidate.claim),
                    id: kept.id,
                    revision: kept.revision.into(),
                    outcome: kept.outcome,
                };
                if json {
                    let mut told = json!(KeptRow::from(&done));
                    told["candidate"] = id.into();
                    output::json(&told);
                } else {
                    output::talk(&sentence(&done));
                }
                Ok(Exit::Good)
            }
            Err(refusal) => {
                if json {
                    output::json(&json!({ "candidate": id, "refused": refusal.to_string() }));
                } else {
                    output::talk(&format!("{BAD}refused{BAD:#} {id}: {refusal}"));
                }
                Ok(Exit::Refused)
            }
        }
    })
}

pub(super) fn refuse(whose: &Whose, args: &Refuse, json: bool) -> Result<Exit, Error> {
    let (scope, now) = (desk::scope(whose)?, desk::now(whose)?);
    let memory = desk::look(whose)?;
    wait(async {
        let id = named(&*memory, &scope.subject(), &args.candidate).await?.id;
        memory.refuse(&scope, &id, &args.because, now).await?;
        if json {
            output::json(&json!({ "candidate": id, "refused": args.because }));
        } else {
            output::talk(&format!("refused {id}: {}", args.because));
        }
        Ok(Exit::Good)
    })
}

/// The one candidate that is meant.
async fn named(memory: &dyn Memory, subject: &Subject, name: &str) -> Result<Candidate, Error> {
    let mut all = memory.candidates(subject, usize::MAX).await?;
    if let Some(place) = all.iter().position(|candidate| candidate.id == name) {
        return Ok(all.swap_remove(place));
    }
    all.retain(|candidate| !name.is_empty() && candidate.id.starts_with(name));
    match all.len() {
        0 => Err(MemoryError::NotFound { kind: "candidate", id: name.to_owned() }.into()),
        1 => Ok(all.swap_remove(0)),
        several => Err(Error::Usage(format!(
            "`{name}` names {several} candidates: {}",
            all.iter().map(|candidate| candidate.id.as_str()).collect::<Vec<_>>().join(", ")
        ))),
    }
}

fn tell(all: &[Candidate], json: bool, empty: &str) {
    if json {
        output::json(&all.iter().map(listed).collect());
    } else if all.is_empty() {
        output::talk(empty);
    } else {
        output::data(&page(all));
    }
}

/// Candidates as a table.
pub(super) fn page(all: &[Candidate]) -> String {
    let rows: Vec<[String; 5]> = all.iter().map(row).collect();
    table(["CANDIDATE", "KIND", "WHAT", "RESTS ON", "STATE"], &rows)
}

fn row(candidate: &Candidate) -> [String; 5] {
    let (what, rests_on) = match &candidate.claim {
        Claim::Fact(fact) => {
            let value = fact.value.as_str().map_or_else(|| fact.value.to_string(), str::to_owned);
            let pieces = fact.evidence.iter().map(|piece| match &piece.quote {
                Some(quote) => format!("{}: \"{}\"", piece.event, shortened(quote, WORDS)),
                None => piece.event.clone(),
            });
            (format!("{}: {value}", fact.key), pieces.collect::<Vec<_>>().join(", "))
        }
        Claim::Episode(episode) => (episode.summary.clone(), episode.sources.join(", ")),
        Claim::Procedure(procedure) => (procedure.task_type.clone(), procedure.sources.join(", ")),
        Claim::Insight(insight) => (insight.statement.clone(), insight.sources.join(", ")),
    };
    let state = match &candidate.state {
        CandidateState::Proposed => "waits".to_owned(),
        CandidateState::Promoted { id } => format!("{GOOD}promoted{GOOD:#} as {id}"),
        CandidateState::Refused { reason } => format!("{BAD}refused{BAD:#}: {reason}"),
    };
    let id = format!("{HEADING}{}{HEADING:#}", candidate.id);
    [id, kind(&candidate.claim).to_owned(), shortened(&what, WORDS), rests_on, state]
}

/// A candidate for programs.
pub(super) fn listed(candidate: &Candidate) -> Value {
    let Candidate { id, origin, claim, state, recorded_at, .. } = candidate;
    let claim = match claim {
        Claim::Fact(fact) => json!(fact),
        Claim::Episode(episode) => json!(episode),
        Claim::Procedure(procedure) => json!(procedure),
        Claim::Insight(insight) => json!(insight),
    };
    json!({
        "id": id,
        "kind": kind(&candidate.claim),
        "origin": origin,
        "claim": claim,
        "state": state,
        "recorded_at": recorded_at,
    })
}

pub(super) fn kind(claim: &Claim) -> &'static str {
    match claim {
        Claim::Fact(_) => "fact",
        Claim::Episode(_) => "episode",
        Claim::Procedure(_) => "procedure",
        Claim::Insight(_) => "insight",
    }
}
