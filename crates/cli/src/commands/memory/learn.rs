//! `countersign memory validate | reject | learn`: what a person says of a guess, and what it teaches.

use countersign_contracts::memory::insight::ValidationState;
use countersign_core::run::Time;
use countersign_memory::record::{Claim, Insight, Origin};
use countersign_memory::rules::{Assurance, Refusal};
use countersign_memory::store::{Carried, Kept, Memory, MemoryError};
use countersign_memory::{Scope, Subject};
use countersign_runtime::remember::{Done, Thing, Told, Voice, thing};
use countersign_server::wire::KeptRow;
use serde_json::json;

use super::candidates::kind;
use super::desk;
use super::remember::sentence;
use super::told::{key_and_value, object};
use crate::args::{Judge, Learn, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::{BAD, HEADING};

pub(super) fn validate(whose: &Whose, args: &Judge, json: bool) -> Result<Exit, Error> {
    judge(whose, args, ValidationState::Validated, json)
}

pub(super) fn reject(whose: &Whose, args: &Judge, json: bool) -> Result<Exit, Error> {
    judge(whose, args, ValidationState::Rejected, json)
}

fn judge(
    whose: &Whose,
    args: &Judge,
    validation: ValidationState,
    json: bool,
) -> Result<Exit, Error> {
    let (scope, now) = (desk::scope(whose)?, desk::now(whose)?);
    let memory = desk::look(whose)?;
    wait(async {
        let insight = named(&*memory, &scope.subject(), &args.insight).await?;
        let id = insight.id.clone();
        // A guess belongs to the run that had it.
        let (user, agent, session) = (scope.user(), scope.agent(), scope.session());
        let scope = desk::within(whose, user, agent, session, &insight.run)?;
        let claim = Claim::Insight(Box::new(Insight { validation, ..insight }));
        let kept = memory.keep(&scope, claim, Origin::User, Assurance::Confirmed, now).await;
        told(kept, "insight", &id, json, |done| {
            let word = json!(validation);
            let word = word.as_str().unwrap_or_default();
            format!("{} {HEADING}{}{HEADING:#} is {word} now", done.kind, done.id)
        })
    })
}

pub(super) fn run(whose: &Whose, args: &Learn, json: bool) -> Result<Exit, Error> {
    let (scope, now) = (desk::scope(whose)?, desk::now(whose)?);
    let claim = lesson(args, &scope, now)?;
    let memory = desk::look(whose)?;
    wait(async {
        let id = named(&*memory, &scope.subject(), &args.insight).await?.id;
        let kind = kind(&claim);
        let kept = memory.learn(&scope, &id, claim, Origin::User, now).await;
        told(kept, kind, &id, json, sentence)
    })
}

/// The fact or the procedure that the flags tell.
fn lesson(args: &Learn, scope: &Scope, now: Time) -> Result<Claim, Error> {
    let (fact, value) = match args.what.fact.as_deref().map(key_and_value).transpose()? {
        Some((key, value)) => (Some(key), Some(value)),
        None => (None, None),
    };
    let told = Told {
        fact,
        value,
        procedure: object("--procedure", args.what.procedure.as_deref())?,
        id: args.id.clone(),
        confidence: args.confidence,
        preference: args.preference,
        valid_from: args.valid_from.clone(),
        valid_to: args.valid_to.clone(),
        task_type: args.task_type.clone(),
        priority: args.priority,
        tags: args.tags.clone(),
        entities: args.entities.clone(),
        ..Told::default()
    };
    match thing(told, Voice::Person, scope, now).map_err(Error::Usage)? {
        Thing::Claim { claim, .. } => Ok(claim),
        _ => unreachable!("a fact or a procedure is a claim"),
    }
}

/// The one guess that is meant, of whatever run.
async fn named(memory: &dyn Memory, subject: &Subject, name: &str) -> Result<Insight, Error> {
    let lines = memory.export(subject).await?;
    let insight = |row: Carried| match row {
        Carried::Insight(insight) => Some(*insight),
        _ => None,
    };
    let mut all: Vec<Insight> = lines.into_iter().filter_map(|line| insight(line.row)).collect();
    if let Some(place) = all.iter().position(|insight| insight.id == name) {
        return Ok(all.swap_remove(place));
    }
    all.retain(|insight| !name.is_empty() && insight.id.starts_with(name));
    match all.len() {
        0 => Err(MemoryError::NotFound { kind: "insight", id: name.to_owned() }.into()),
        1 => Ok(all.swap_remove(0)),
        several => Err(Error::Usage(format!(
            "`{name}` names {several} insights: {}",
            all.iter().map(|insight| insight.id.as_str()).collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// Tells what is kept of an insight, or why nothing is.
fn told(
    kept: Result<Kept, MemoryError>,
    kind: &'static str,
    insight: &str,
    json: bool,
    says: impl Fn(&Done) -> String,
) -> Result<Exit, Error> {
    let refusal = match kept {
        Ok(Kept { id, revision, outcome }) => {
            let done = Done { kind, id, revision: revision.into(), outcome };
            if json {
                let mut told = json!(KeptRow::from(&done));
                told["insight"] = insight.into();
                output::json(&told);
            } else {
                output::talk(&says(&done));
            }
            return Ok(Exit::Good);
        }
        Err(MemoryError::Refused(refusal)) => refusal,
        Err(other) => return Err(other.into()),
    };
    if json {
        output::json(&json!({ "insight": insight, "refused": refusal.to_string() }));
    } else {
        let help = match refusal {
            Refusal::NotValidated { .. } => {
                format!("; once it was tested: `countersign memory validate {insight}`")
            }
            _ => String::new(),
        };
        output::talk(&format!("{BAD}refused{BAD:#}: {refusal}{help}"));
    }
    Ok(Exit::Refused)
}
