//! `countersign memory export` and `import`: memory as JSON Lines, out of one store and into another.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use countersign_memory::Subject;
use countersign_memory::store::{Line, Provenance};
use serde_json::{Value, json};

use super::desk;
use crate::args::{ExportMemory, ImportMemory, Whose};
use crate::exit::{Error, Exit};
use crate::files;
use crate::house::wait;
use crate::output;
use crate::show::{BAD, GOOD};

pub(super) fn export(whose: &Whose, args: &ExportMemory, json: bool) -> Result<Exit, Error> {
    let subject = desk::scope(whose)?.subject();
    let file = args.output.as_ref().filter(|file| file.as_os_str() != "-");
    let memory = desk::look(whose)?;
    wait(async {
        let lines = memory.export(&subject).await?;
        let (user, agent) = (&subject.user, &subject.agent);
        if lines.is_empty() {
            output::talk(&format!("nothing is remembered of user `{user}` with agent `{agent}`"));
        }
        let written = lines.iter().map(|line| json!(line).to_string());
        let text: String = written.flat_map(|line| [line, "\n".to_owned()]).collect();
        let Some(file) = file else {
            output::data(&text);
            return Ok(Exit::Good);
        };
        let shown = file.display().to_string();
        fs::write(file, &text)
            .map_err(|source| Error::Unwritable { what: shown.clone(), source })?;
        if json {
            let (count, bytes) = (lines.len(), text.len());
            output::json(&json!({ "file": shown, "lines": count, "bytes": bytes }));
        } else {
            output::talk(&format!(
                "what is remembered of {user} with {agent} is in {shown}: {}, {} bytes. It holds every word.",
                desk::counted(lines.len() as u64, "line"),
                text.len()
            ));
        }
        Ok(Exit::Good)
    })
}

pub(super) fn import(whose: &Whose, args: &ImportMemory, json: bool) -> Result<Exit, Error> {
    let now = desk::now(whose)?;
    let (lines, mut unread) = read(&args.file)?;
    let (lines, others): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|(_, line)| is_meant(whose, &line.subject));
    unread.extend(others.into_iter().map(|(number, line)| {
        let Subject { tenant, user, agent } = line.subject;
        (number, format!("it is of user `{user}` with agent `{agent}` of tenant `{tenant}`, and that is not who is named here"))
    }));
    let (numbers, lines): (Vec<u64>, Vec<Line>) = lines.into_iter().unzip();
    let provenance = if args.ours { Provenance::Ours } else { Provenance::Foreign };
    // Read before a folder or a database is made for it.
    let memory = desk::open(whose)?;
    wait(async {
        let imported = memory.import(lines, provenance, now).await?;
        // The memory counts what it was given; people count the lines of their file.
        let line = |given: u64| {
            let place = usize::try_from(given).ok().and_then(|given| given.checked_sub(1));
            place.and_then(|place| numbers.get(place)).copied().unwrap_or_default()
        };
        let mut refused = unread;
        refused.extend(imported.refused.into_iter().map(|(given, said)| (line(given), said)));
        refused.sort();
        if json {
            let told = |(line, said): &(u64, String)| json!({ "line": line, "message": said });
            let told: Vec<Value> = refused.iter().map(told).collect();
            output::json(&json!({ "kept": imported.kept, "refused": told }));
        } else {
            for (line, said) in &refused {
                output::talk(&format!("{BAD}refused{BAD:#} line {line}: {said}"));
            }
            let lines = if imported.kept == 1 { "line is" } else { "lines are" };
            output::talk(&format!("{GOOD}{} {lines} here now{GOOD:#}", imported.kept));
        }
        Ok(if refused.is_empty() { Exit::Good } else { Exit::Refused })
    })
}

/// Whether a line belongs to whoever the flags name: the tenant always, a user and an agent where they are said.
fn is_meant(whose: &Whose, subject: &Subject) -> bool {
    let named = |flag: &Option<String>, name: &str| flag.as_deref().is_none_or(|flag| flag == name);
    subject.tenant == whose.tenant
        && named(&whose.user, &subject.user)
        && named(&whose.agent, &subject.agent)
}

/// The lines of a file by their numbers, and what is wrong with those that cannot be read.
type Lines = (Vec<(u64, Line)>, Vec<(u64, String)>);

/// The lines of a file. Where none of them can be read, it is no export at all.
fn read(file: &Path) -> Result<Lines, Error> {
    let (name, text) = if file.as_os_str() == "-" {
        let mut text = String::new();
        let unreadable = |source| Error::Unreadable { what: "standard input".to_owned(), source };
        std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
        ("<stdin>".to_owned(), text)
    } else {
        (file.display().to_string(), files::text(file)?)
    };
    let (mut lines, mut unread) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(line) => lines.push((number, line)),
            Err(error) => unread.push((number, format!("no line of an export: {error}"))),
        }
    }
    match unread.first() {
        Some((number, said)) if lines.is_empty() => Err(Error::Usage(format!(
            "{name}:{number}: {said}; `memory remember` reads simpler ones"
        ))),
        _ => Ok((lines, unread)),
    }
}
