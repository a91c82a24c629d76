//! `countersign memory export` and `import`: memory as JSON Lines, out of one store and into another.

use std::fs;
use std::io::Read as _;
use std::path::Path;

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
    let (numbers, lines): (Vec<usize>, Vec<Line>) = read(&args.file)?.into_iter().unzip();
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
        if json {
            let refused = imported.refused.iter();
            let refused: Vec<Value> = refused
                .map(|(given, said)| json!({ "line": line(*given), "message": said }))
                .collect();
            output::json(&json!({ "kept": imported.kept, "refused": refused }));
        } else {
            for (given, said) in &imported.refused {
                output::talk(&format!("{BAD}refused{BAD:#} line {}: {said}", line(*given)));
            }
            let lines = if imported.kept == 1 { "line is" } else { "lines are" };
            output::talk(&format!("{GOOD}{} {lines} here now{GOOD:#}", imported.kept));
        }
        Ok(if imported.refused.is_empty() { Exit::Good } else { Exit::Refused })
    })
}

/// The lines of a file with their numbers. One that cannot be read stops all.
fn read(file: &Path) -> Result<Vec<(usize, Line)>, Error> {
    let (name, text) = if file.as_os_str() == "-" {
        let mut text = String::new();
        let unreadable = |source| Error::Unreadable { what: "standard input".to_owned(), source };
        std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
        ("<stdin>".to_owned(), text)
    } else {
        (file.display().to_string(), files::text(file)?)
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map(|line| (number, line)).map_err(|error| {
                Error::Usage(format!(
                    "{name}:{number}: no line of an export: {error}; `memory remember` reads simpler ones"
                ))
            })
        })
        .collect()
}
