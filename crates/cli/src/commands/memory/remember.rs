//! `countersign memory remember`: one thing by flags, or many by lines.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use countersign_core::run::Time;
use countersign_memory::Scope;
use countersign_memory::rules::Outcome;
use countersign_runtime::remember::{Account, Done, Thing, Told, Voice, remember, thing};
use countersign_server::wire::Remembered;
use serde_json::json;

use super::desk;
use super::told::by_flags;
use crate::args::{Remember, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::{BAD, GOOD, HEADING};

/// So many are told one by one.
const SHOWN: usize = 20;

pub(super) fn run(whose: &Whose, args: &Remember, json: bool) -> Result<Exit, Error> {
    let (scope, now) = (desk::scope(whose)?, desk::now(whose)?);
    let things = match by_flags(args)? {
        Some(told) => vec![(0, thing(told, Voice::Person, &scope, now).map_err(Error::Usage)?)],
        None => from_lines(args.file.as_deref(), &scope, now)?,
    };
    // Read before a folder or a database is made for it.
    let memory = desk::open(whose)?;
    wait(async {
        let account = remember(&*memory, things, now).await?;
        show(&account, json);
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
            let thing = told.and_then(|told| thing(told, Voice::Person, scope, now));
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

fn show(account: &Account, json: bool) {
    if json {
        output::json(&json!(Remembered::from(account)));
        return;
    }
    for done in account.kept.iter().take(SHOWN) {
        output::talk(&sentence(done));
    }
    if account.kept.len() > SHOWN {
        output::talk(&format!("… and {} more", account.kept.len() - SHOWN));
    }
    for (line, said) in &account.refused {
        let place = if *line == 0 { String::new() } else { format!(" line {line}") };
        output::talk(&format!("{BAD}refused{BAD:#}{place}: {said}"));
    }
}

/// What was kept, in a sentence.
pub(super) fn sentence(done: &Done) -> String {
    let Done { kind, id, revision, outcome } = done;
    let named = format!("{kind} {HEADING}{id}{HEADING:#}");
    let list = |ids: &[String]| ids.join(", ");
    match outcome {
        Outcome::Kept if *revision > 1 => {
            format!("{GOOD}kept{GOOD:#} {named}, revision {revision}")
        }
        Outcome::Kept => format!("{GOOD}kept{GOOD:#} {named}"),
        Outcome::Supported(_) if *revision > 1 => {
            format!("{GOOD}known{GOOD:#} {named}: revision {revision} stands")
        }
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
            "{BAD}disputed{BAD:#} {named}: it contradicts {}, and neither outranks the other; what a person answers for settles it: `memory remember --fact … --confirmed`",
            list(ids)
        ),
    }
}
