//! `countersign memory remember`: one thing by flags, or many by lines.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use countersign_contracts::Object;
use countersign_contracts::memory::short_term::{OpenLoop, WorkingState};
use countersign_core::run::Time;
use countersign_memory::Scope;
use countersign_memory::record::{Claim, Event, Summary, Working};
use countersign_memory::rules::Outcome;
use countersign_memory::store::{Kept, Memory, MemoryError, NewEvent};
use serde_json::{Value, json};

use super::desk;
use super::thing::{Thing, thing};
use super::told::Told;
use crate::args::{Remember, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::{BAD, GOOD, HEADING};

/// So many are told one by one.
const SHOWN: usize = 20;

/// So many events are kept in one commit.
const AT_ONCE: usize = 1_000;

pub(super) fn run(whose: &Whose, args: &Remember, json: bool) -> Result<Exit, Error> {
    let (scope, now) = (desk::scope(whose)?, desk::now(whose)?);
    let things = match Told::by_flags(args)? {
        Some(told) => vec![(0, thing(told, &scope, now).map_err(Error::Usage)?)],
        None => from_lines(args.file.as_deref(), &scope, now)?,
    };
    // Read before a folder or a database is made for it.
    let memory = desk::open(whose)?;
    wait(async {
        let mut account = Account::default();
        let mut events: Vec<(usize, NewEvent)> = Vec::new();
        for (line, thing) in things {
            if let Thing::Event(event) = thing {
                events.push((line, event));
                if events.len() == AT_ONCE {
                    tell(&memory, std::mem::take(&mut events), now, &mut account).await?;
                }
                continue;
            }
            // What cites an event comes after it.
            tell(&memory, std::mem::take(&mut events), now, &mut account).await?;
            match keep(&memory, thing, now).await {
                Ok(kept) => account.kept.push(kept),
                Err(error) => account.refuse(line, error)?,
            }
        }
        tell(&memory, events, now, &mut account).await?;
        account.show(json);
        Ok(if account.refused.is_empty() { Exit::Good } else { Exit::Refused })
    })
}

/// Things of a file of JSON Lines, each with the number of its line. One that cannot be read stops all.
fn from_lines(file: Option<&Path>, scope: &Scope, now: Time) -> Result<Vec<(usize, Thing)>, Error> {
    let (name, text) = match file.filter(|file| *file != Path::new("-")) {
        Some(file) => (file.display().to_string(), crate::files::text(file)?),
        None if file.is_none() && std::io::stdin().is_terminal() => {
            return Err(Error::Usage(
                "what is to be remembered? Name it with `--event`, `--fact`, `--episode`, `--procedure`, `--insight`, `--working` or `--summary`, or give a file of JSON Lines"
                    .to_owned(),
            ));
        }
        None => {
            let mut text = String::new();
            let unreadable =
                |source| Error::Unreadable { what: "standard input".to_owned(), source };
            std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
            ("<stdin>".to_owned(), text)
        }
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let things: Vec<(usize, Thing)> = lines
        .map(|(number, line)| {
            let value = serde_json::from_str(line).map_err(|error| format!("not JSON: {error}"));
            let told = value.and_then(Told::by_line);
            let thing = told.and_then(|told| thing(told, scope, now));
            thing
                .map(|thing| (number, thing))
                .map_err(|said| Error::Usage(format!("{name}:{number}: {said}")))
        })
        .collect::<Result<_, _>>()?;
    if things.is_empty() {
        return Err(Error::Usage(format!("{name} has no line: there is nothing to remember")));
    }
    Ok(things)
}

/// What became of everything.
#[derive(Default)]
struct Account {
    kept: Vec<Done>,
    refused: Vec<(usize, String)>,
}

/// Something that is kept now.
pub(super) struct Done {
    pub(super) kind: &'static str,
    pub(super) id: String,
    pub(super) revision: u64,
    pub(super) outcome: Outcome,
}

async fn tell(
    memory: &dyn Memory,
    events: Vec<(usize, NewEvent)>,
    now: Time,
    account: &mut Account,
) -> Result<(), Error> {
    let (lines, events): (Vec<usize>, Vec<NewEvent>) = events.into_iter().unzip();
    let done = |event: Event| {
        let known = event.recorded_at != now;
        let outcome = if known { Outcome::Supported(event.id.clone()) } else { Outcome::Kept };
        Done { kind: "event", id: event.id, revision: 1, outcome }
    };
    match memory.remember(events.clone()).await {
        Ok(kept) => account.kept.extend(kept.into_iter().map(done)),
        // One of them was refused, and none was kept: each by itself, then.
        Err(MemoryError::Refused(_)) => {
            for (line, event) in lines.into_iter().zip(events) {
                match memory.remember(vec![event]).await {
                    Ok(kept) => account.kept.extend(kept.into_iter().map(done)),
                    Err(error) => account.refuse(line, error)?,
                }
            }
        }
        Err(other) => return Err(other.into()),
    }
    Ok(())
}

async fn keep(memory: &dyn Memory, thing: Thing, now: Time) -> Result<Done, MemoryError> {
    match thing {
        Thing::Claim { scope, claim, origin, assurance } => {
            let kind = match &claim {
                Claim::Fact(_) => "fact",
                Claim::Episode(_) => "episode",
                Claim::Procedure(_) => "procedure",
                Claim::Insight(_) => "insight",
            };
            let Kept { id, revision, outcome } =
                memory.keep(&scope, claim, origin, assurance, now).await?;
            Ok(Done { kind, id, revision: revision.into(), outcome })
        }
        Thing::Working { scope, state, seen } => {
            let expected = match seen {
                Some(seen) => seen,
                None => latest(memory, &scope).await?,
            };
            let working = working(state, expected, now)?;
            let revision = memory.write_working(&scope, expected, working).await?;
            let id = scope.run().to_owned();
            Ok(Done { kind: "working state of run", id, revision, outcome: Outcome::Kept })
        }
        Thing::Summary { scope, text, quotes } => {
            let summary = Summary { revision: 1, text, quotes, upto: 0, recorded_at: now };
            let revision = memory.write_summary(&scope, summary).await?.into();
            let id = scope.session().to_owned();
            Ok(Done { kind: "summary of session", id, revision, outcome: Outcome::Kept })
        }
        Thing::Event(_) => unreachable!("events are told in batches"),
    }
}

/// The latest version of a run's working state; 0 before the first.
async fn latest(memory: &dyn Memory, scope: &Scope) -> Result<u64, MemoryError> {
    Ok(memory.working(scope).await?.map_or(0, |working| working.state.state_version))
}

/// A working state of a file: as the packet has it, with `open_loops` beside the rest.
fn working(mut state: Object, version: u64, now: Time) -> Result<Working, MemoryError> {
    use countersign_memory::rules::Refusal;

    let malformed = |part: &str, error: &serde_json::Error| {
        let expected = format!("as in a packet: {error}");
        MemoryError::Refused(Refusal::Malformed { part: part.to_owned(), expected })
    };
    let open_loops: Vec<OpenLoop> = match state.remove("open_loops") {
        None => Vec::new(),
        Some(list) => {
            serde_json::from_value(list).map_err(|error| malformed("open_loops", &error))?
        }
    };
    state.insert("state_version".to_owned(), version.into());
    let state: WorkingState = serde_json::from_value(Value::Object(state))
        .map_err(|error| malformed("working", &error))?;
    Ok(Working { state, open_loops, recorded_at: now })
}

impl Account {
    /// A refusal is told at the end; anything else ends the command.
    fn refuse(&mut self, line: usize, error: MemoryError) -> Result<(), Error> {
        match error {
            MemoryError::Refused(_) | MemoryError::Conflict { .. } => {
                self.refused.push((line, error.to_string()));
                Ok(())
            }
            other => Err(other.into()),
        }
    }

    fn show(&self, json: bool) {
        if json {
            let kept: Vec<Value> = self.kept.iter().map(Done::as_json).collect();
            let refused = self.refused.iter();
            let refused: Vec<Value> = refused
                .map(|(line, said)| {
                    json!({ "line": if *line == 0 { None } else { Some(line) }, "message": said })
                })
                .collect();
            output::json(&json!({ "kept": kept, "refused": refused }));
            return;
        }
        for done in self.kept.iter().take(SHOWN) {
            output::talk(&done.sentence());
        }
        if self.kept.len() > SHOWN {
            output::talk(&format!("… and {} more", self.kept.len() - SHOWN));
        }
        for (line, said) in &self.refused {
            let place = if *line == 0 { String::new() } else { format!(" line {line}") };
            output::talk(&format!("{BAD}refused{BAD:#}{place}: {said}"));
        }
    }
}

impl Done {
    /// For people.
    pub(super) fn sentence(&self) -> String {
        let Self { kind, id, revision, outcome } = self;
        let named = format!("{kind} {HEADING}{id}{HEADING:#}");
        let list = |ids: &[String]| ids.join(", ");
        match outcome {
            Outcome::Kept if *revision > 1 => {
                format!("{GOOD}kept{GOOD:#} {named}, revision {revision}")
            }
            Outcome::Kept => format!("{GOOD}kept{GOOD:#} {named}"),
            Outcome::Supported(_) => format!("{GOOD}known{GOOD:#} {named}: it says nothing new"),
            Outcome::Superseded(ids) if ids.iter().all(|other| other == id) => {
                format!("{GOOD}kept{GOOD:#} {named}, revision {revision}")
            }
            Outcome::Superseded(ids) => {
                format!("{GOOD}kept{GOOD:#} {named}; it takes the place of {}", list(ids))
            }
            Outcome::Outdated(other) => {
                format!("{GOOD}kept{GOOD:#} {named} as out of date: {other} stands")
            }
            Outcome::Disputed(ids) => format!(
                "{BAD}disputed{BAD:#} {named}: it contradicts {}, and neither is newer or surer; `--confirmed` or `--valid-from` would settle it",
                list(ids)
            ),
        }
    }

    /// For programs.
    pub(super) fn as_json(&self) -> Value {
        let (word, others) = match &self.outcome {
            Outcome::Kept => ("kept", Vec::new()),
            Outcome::Supported(id) => ("supported", vec![id.clone()]),
            Outcome::Superseded(ids) => ("superseded", ids.clone()),
            Outcome::Outdated(id) => ("outdated", vec![id.clone()]),
            Outcome::Disputed(ids) => ("disputed", ids.clone()),
        };
        json!({
            "kind": self.kind,
            "id": self.id,
            "revision": self.revision,
            "outcome": word,
            "others": others,
        })
    }
}
