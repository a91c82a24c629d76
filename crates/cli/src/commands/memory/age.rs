//! `countersign memory age`: what happened long ago is told shorter, and what belongs together as one.

use countersign_memory::rules::Aged;
use countersign_server::show::shortened;
use serde_json::{Value, json};

use super::{desk, packets};
use crate::args::{Age, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::{GOOD, HEADING};
use crate::table::table;

pub(super) fn run(whose: &Whose, args: &Age, json: bool) -> Result<Exit, Error> {
    let (subject, now) = (desk::scope(whose)?.subject(), desk::now(whose)?);
    let ageing = packets::policy(&args.policy)?.ageing;
    let memory = desk::look(whose)?;
    wait(async {
        let aged = if args.dry_run {
            memory.would_age(&subject, ageing, now).await?
        } else {
            memory.age(&subject, ageing, now).await?
        };
        if json {
            let aged: Vec<Value> = aged.iter().map(listed).collect();
            output::json(&json!({ "dry_run": args.dry_run, "aged": aged }));
            return Ok(Exit::Good);
        }
        if aged.is_empty() {
            output::talk("no episode is old enough to be told shorter");
            return Ok(Exit::Good);
        }
        let rows: Vec<[String; 4]> = aged.iter().map(row).collect();
        output::data(&table(["EPISODE", "LEVEL", "FROM", "TOLD AS"], &rows));
        let count = desk::counted(aged.len() as u64, "episode");
        output::talk(&if args.dry_run {
            format!("{count} would age; nothing was changed")
        } else {
            format!(
                "{GOOD}aged{GOOD:#}: {count}. What was told before stays, and old builds are composed as before."
            )
        });
        Ok(Exit::Good)
    })
}

fn row(aged: &Aged) -> [String; 4] {
    let from = if aged.from.is_empty() {
        desk::counted(aged.before, "character")
    } else {
        aged.from.join(", ")
    };
    let level = level(aged);
    [format!("{HEADING}{}{HEADING:#}", aged.id), level, from, shortened(&aged.summary, 60)]
}

fn level(aged: &Aged) -> String {
    json!(aged.level).as_str().unwrap_or_default().to_owned()
}

fn listed(aged: &Aged) -> Value {
    json!({
        "id": aged.id,
        "level": level(aged),
        "from": aged.from,
        "characters": aged.before,
        "summary": aged.summary,
    })
}
