//! `countersign memory audit`: what a memory is worth; junk counted, with examples.

use countersign_memory::store::{Audit, Finding};
use serde_json::json;

use super::desk;
use crate::args::Whose;
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::HEADING;
use crate::table::table;

pub(super) fn run(whose: &Whose, json: bool) -> Result<Exit, Error> {
    let (subject, now) = (desk::scope(whose)?.subject(), desk::now(whose)?);
    let memory = desk::look(whose)?;
    wait(async {
        let audit = memory.audit(&subject, now).await?;
        let findings = findings(&audit);
        if json {
            let told =
                |finding: &Finding| json!({ "count": finding.count, "examples": finding.examples });
            let mut value = json!({ "events": audit.events, "facts": audit.facts });
            for (name, _, finding) in findings {
                value[name] = told(finding);
            }
            output::json(&value);
            return Ok(Exit::Good);
        }
        let (user, agent) = (&subject.user, &subject.agent);
        output::data(&format!(
            "{HEADING}{user} with {agent}{HEADING:#}: {}, {}\n",
            desk::counted(audit.events, "event"),
            desk::counted(audit.facts, "fact")
        ));
        if findings.iter().all(|(_, _, finding)| finding.count == 0) {
            output::data("No junk was found.\n");
            return Ok(Exit::Good);
        }
        let rows: Vec<[String; 4]> = findings
            .into_iter()
            .map(|(name, means, finding)| {
                let more = finding.count > finding.examples.len() as u64;
                let examples = finding.examples.join(", ") + if more { ", …" } else { "" };
                let name = name.replace('_', " ");
                [name, finding.count.to_string(), means.to_owned(), examples]
            })
            .collect();
        output::data(&table(["FOUND", "ROWS", "WHAT IT MEANS", "SUCH AS"], &rows));
        Ok(Exit::Good)
    })
}

fn findings(audit: &Audit) -> [(&'static str, &'static str, &Finding); 6] {
    [
        ("exact_duplicates", "the same letters again", &audit.exact_duplicates),
        ("near_duplicates", "the same words again", &audit.near_duplicates),
        ("never_selected", "no packet ever held it", &audit.never_selected),
        ("contradicted", "something contradicts it", &audit.contradicted),
        ("unsupported", "it rests on no event that is there", &audit.unsupported),
        ("expired", "it is over", &audit.expired),
    ]
}
