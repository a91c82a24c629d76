//! `countersign memory audit`: assesses the quality of a memory and counts junk, with examples.

use countersign_memory::store::{AuditFinding, MemoryAudit};
use serde_json::json;

use super::open_memory;
use crate::args::ScopeArgs;
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::HEADING;
use crate::table::render_table;

pub(super) fn run(whose: &ScopeArgs, json: bool) -> Result<CliExit, CliError> {
    let (subject, now) =
        (open_memory::resolve_scope(whose)?.subject(), open_memory::resolve_now(whose)?);
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let audit = memory.audit(&subject, now).await?;
        let findings = list_findings(&audit);
        if json {
            let to_json = |finding: &AuditFinding| json!({ "count": finding.count, "examples": finding.examples });
            let mut value = json!({ "events": audit.events, "facts": audit.facts });
            for (name, _, finding) in findings {
                value[name] = to_json(finding);
            }
            output::print_json(&value);
            return Ok(CliExit::Success);
        }
        let (user, agent) = (&subject.user, &subject.agent);
        output::print_data(&format!(
            "{HEADING}{user} with {agent}{HEADING:#}: {}, {}\n",
            open_memory::pluralize(audit.events, "event"),
            open_memory::pluralize(audit.facts, "fact")
        ));
        if findings.iter().all(|(_, _, finding)| finding.count == 0) {
            output::print_data("No junk was found.\n");
            return Ok(CliExit::Success);
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
        output::print_data(&render_table(["FOUND", "ROWS", "WHAT IT MEANS", "EXAMPLES"], &rows));
        Ok(CliExit::Success)
    })
}

fn list_findings(audit: &MemoryAudit) -> [(&'static str, &'static str, &AuditFinding); 6] {
    [
        ("exact_duplicates", "exactly the same text again", &audit.exact_duplicates),
        ("near_duplicates", "the same words again", &audit.near_duplicates),
        ("never_selected", "no packet ever used it", &audit.never_selected),
        ("contradicted", "something contradicts it", &audit.contradicted),
        ("unsupported", "no existing event supports it", &audit.unsupported),
        ("expired", "it has expired", &audit.expired),
    ]
}
