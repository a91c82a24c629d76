//! `countersign memory expire`: removes expired items.

use countersign_memory::store::{SweepOptions, SweepReport};
use serde_json::json;

use super::open_memory;
use crate::args::{MemoryExpireArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::GOOD;

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemoryExpireArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let (scope, now) = (open_memory::resolve_scope(whose)?, open_memory::resolve_now(whose)?);
    let sweep = SweepOptions { run_ended: args.run_ended, include_used: args.include_used };
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let swept = if args.dry_run {
            memory.preview_sweep(&scope, sweep, now).await?
        } else {
            memory.sweep_expired(&scope, sweep, now).await?
        };
        if json {
            let SweepReport { events, insights, retained: spared } = swept;
            output::print_json(&json!({
                "dry_run": args.dry_run,
                "events": events,
                "insights": insights,
                "retained": spared,
            }));
        } else {
            output::print_message(&describe_sweep(swept, args.dry_run));
        }
        Ok(CliExit::Success)
    })
}

fn describe_sweep(swept: SweepReport, dry_run: bool) -> String {
    let SweepReport { events, insights, retained: spared } = swept;
    let counted = format!(
        "{}, {}",
        open_memory::pluralize(events, "event"),
        open_memory::pluralize(insights, "insight")
    );
    let mut text = match (events + insights, dry_run) {
        (0, _) => "there are no expired items to remove".to_owned(),
        (_, true) => format!("{counted} would be removed; nothing was changed"),
        (_, false) => format!("{GOOD}removed{GOOD:#}: {counted}"),
    };
    if spared > 0 {
        text.push_str(". ");
        text.push_str(&if spared == 1 {
            "1 expired row is kept: a build used it, or it is an insight that was not validated; `--include-used` removes it too".to_owned()
        } else {
            format!(
                "{spared} expired rows are kept: builds used them, or they are insights that were not validated; `--include-used` removes them too"
            )
        });
    }
    text
}
