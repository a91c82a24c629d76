//! `countersign memory forget`: shows what will be erased, asks for confirmation, and erases it.
//! Only flags select the target.

use countersign_memory::MemorySubject;
use countersign_memory::store::{EraseReport, EraseTarget};
use countersign_store::TenantId;
use countersign_view::wire::ForgetResponse;
use serde_json::json;

use super::open_memory;
use crate::args::{MemoryForgetArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::render::{BAD, GOOD, HEADING};
use crate::table::render_table;
use crate::{output, terminal};

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemoryForgetArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let (whom, target) = resolve_target(whose)?;
    let now = open_memory::resolve_now(whose)?;
    let Some(memory) = open_memory::find_memory(whose)? else {
        report_nothing(&target, json);
        return Ok(CliExit::Success);
    };
    block_on(async {
        let going = memory.preview_forget(whom.clone()).await?;
        if going.rows.is_empty() {
            // The file is rewritten even so, because a crash may have left residue.
            memory.forget(whom, now).await?;
            report_nothing(&target, json);
            return Ok(CliExit::Success);
        }
        if !json {
            output::print_message(&format!(
                "This data of {HEADING}{target}{HEADING:#} will be erased permanently:"
            ));
            output::print_message(render_erasure(&going).trim_end());
        }
        if !args.yes && !confirm_erasure(&target, json).await? {
            output::print_message("Nothing was erased.");
            return Ok(CliExit::Refused);
        }
        let erased = memory.forget(whom, now).await?;
        if json {
            output::print_json(&json!(ForgetResponse::from(erased)));
        } else {
            output::print_message(&format!(
                "{GOOD}erased{GOOD:#}: {}. Hashes of {} are kept, so that the items cannot come back.",
                open_memory::pluralize(erased.rows.values().sum(), "row"),
                open_memory::pluralize(erased.tombstones, "id")
            ));
        }
        Ok(CliExit::Success)
    })
}

/// Returns the target of the erasure and its display name.
fn resolve_target(whose: &ScopeArgs) -> Result<(EraseTarget, String), CliError> {
    let Some(user) = &whose.user else {
        return Err(CliError::Usage(
            "`--user` is missing; name the user to erase on the command line, because settings are ignored here"
                .to_owned(),
        ));
    };
    // Validate here, so that the error names the flag.
    let any = "any";
    let scope =
        open_memory::build_scope(whose, user, whose.agent.as_deref().unwrap_or(any), any, any)?;
    let MemorySubject { tenant, user, agent } = scope.subject();
    let at = if tenant == TenantId::default().as_str() {
        String::new()
    } else {
        format!(" of tenant {tenant}")
    };
    Ok(match whose.agent {
        Some(_) => {
            let target = format!("{user} with {agent}{at}");
            (EraseTarget::Subject(MemorySubject { tenant, user, agent }), target)
        }
        None => {
            let target = format!("{user} with every agent{at}");
            (EraseTarget::User { tenant, user }, target)
        }
    })
}

fn render_erasure(going: &EraseReport) -> String {
    let rows: Vec<[String; 2]> =
        going.rows.iter().map(|(table, rows)| [table.clone(), rows.to_string()]).collect();
    let mut text = render_table(["TABLE", "ROWS"], &rows);
    if !going.shared_facts.is_empty() {
        let facts = going.shared_facts.join(", ");
        text.push_str(&format!("Kept, because others also support these facts: {facts}\n"));
    }
    text
}

async fn confirm_erasure(target: &str, json: bool) -> Result<bool, CliError> {
    let nobody = || {
        CliError::Usage(
            "cannot ask for confirmation, so nothing was erased; use `--yes` to confirm".to_owned(),
        )
    };
    if json {
        return Err(nobody());
    }
    let question = format!("{BAD}Permanently erase the memory of {target}?{BAD:#} [y/N]");
    let line = terminal::prompt_line(&question).await.ok_or_else(nobody)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn report_nothing(target: &str, json: bool) {
    if json {
        output::print_json(&json!({ "rows": {}, "shared": [], "tombstones": 0 }));
    } else {
        output::print_message(&format!("there is no memory of {target}"));
    }
}
