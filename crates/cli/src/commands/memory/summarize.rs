//! `countersign memory summarize`: the session so far, in its best lines, or in the words of a model.

use countersign_memory::record::Summary;
use countersign_memory::summarize::rolled;
use countersign_memory::tokens::TiktokenCounter;
use countersign_runtime::learn::summarize;
use serde_json::json;

use super::{desk, propose};
use crate::args::{Summarize, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::{GOOD, HEADING};

pub(super) fn run(whose: &Whose, args: &Summarize, json: bool) -> Result<Exit, Error> {
    let (scope, now) = (desk::scope(whose)?, desk::now(whose)?);
    let model = args.model.as_deref().map(|name| propose::model(Some(name))).transpose()?;
    let memory = desk::look(whose)?;
    wait(async {
        let told = match &model {
            Some(model) => {
                let heard = &mut propose::heard(json);
                let told = summarize(&*memory, &**model, &scope, args.tokens, now, heard).await;
                output::passing("");
                match told {
                    Ok(told) => told,
                    Err(error) => return propose::refused(error, json),
                }
            }
            None => {
                let material = memory.material(&scope, now).await?;
                rolled(&material, args.tokens, &TiktokenCounter::o200k(), now)
            }
        };
        let Some(summary) = told else {
            return Err(Error::Usage(format!(
                "there is nothing to sum up in session `{}`",
                scope.session()
            )));
        };
        let revision = if args.dry_run {
            None
        } else {
            Some(memory.write_summary(&scope, summary.clone()).await?)
        };
        tell(&summary, revision, scope.session(), json);
        Ok(Exit::Good)
    })
}

fn tell(summary: &Summary, revision: Option<u32>, session: &str, json: bool) {
    let Summary { text, sources, by, upto, .. } = summary;
    if json {
        output::json(&json!({
            "session": session,
            "revision": revision,
            "text": text,
            "sources": sources,
            "by": by,
            "upto": upto,
        }));
        return;
    }
    output::data(&format!("{text}\n"));
    let by = by.as_deref().unwrap_or("a person");
    let events = desk::counted(sources.len() as u64, "event");
    output::talk(&match revision {
        Some(revision) => format!(
            "{GOOD}kept{GOOD:#} summary of session {HEADING}{session}{HEADING:#}, revision {revision}: by {by}, of {events}"
        ),
        None => format!("by {by}, of {events}; nothing was kept"),
    });
}
