//! `countersign memory age`: compresses old episodes and merges related ones.

use countersign_memory::rules::AgedEpisode;
use countersign_view::show::truncate_line;
use serde_json::{Value, json};

use super::{open_memory, policy_and_build};
use crate::args::{MemoryAgeArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{GOOD, HEADING};
use crate::table::render_table;

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemoryAgeArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let (subject, now) =
        (open_memory::resolve_scope(whose)?.subject(), open_memory::resolve_now(whose)?);
    let ageing = policy_and_build::load_policy(&args.policy)?.ageing;
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let aged = if args.dry_run {
            memory.preview_ageing(&subject, ageing, now).await?
        } else {
            memory.age_episodes(&subject, ageing, now).await?
        };
        if json {
            let aged: Vec<Value> = aged.iter().map(episode_to_json).collect();
            output::print_json(&json!({ "dry_run": args.dry_run, "aged": aged }));
            return Ok(CliExit::Success);
        }
        if aged.is_empty() {
            output::print_message("no episode is old enough to be compressed");
            return Ok(CliExit::Success);
        }
        let rows: Vec<[String; 4]> = aged.iter().map(format_row).collect();
        output::print_data(&render_table(["EPISODE", "LEVEL", "FROM", "SUMMARY"], &rows));
        let count = open_memory::pluralize(aged.len() as u64, "episode");
        output::print_message(&if args.dry_run {
            format!("{count} would age; nothing was changed")
        } else {
            format!(
                "{GOOD}aged{GOOD:#}: {count}. The original episodes are kept, and old builds can still be composed again."
            )
        });
        Ok(CliExit::Success)
    })
}

fn format_row(aged: &AgedEpisode) -> [String; 4] {
    let from = if aged.merged_from.is_empty() {
        open_memory::pluralize(aged.chars_before, "character")
    } else {
        aged.merged_from.join(", ")
    };
    let level = level_name(aged);
    [format!("{HEADING}{}{HEADING:#}", aged.id), level, from, truncate_line(&aged.summary, 60)]
}

fn level_name(aged: &AgedEpisode) -> String {
    json!(aged.level).as_str().unwrap_or_default().to_owned()
}

fn episode_to_json(aged: &AgedEpisode) -> Value {
    json!({
        "id": aged.id,
        "level": level_name(aged),
        "merged_from": aged.merged_from,
        "characters": aged.chars_before,
        "summary": aged.summary,
    })
}
