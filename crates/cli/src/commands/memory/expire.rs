//! `countersign memory expire`: takes out what is over.

use countersign_memory::store::{Sweep, Swept};
use serde_json::json;

use super::desk;
use crate::args::{Expire, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::GOOD;

pub(super) fn run(whose: &Whose, args: &Expire, json: bool) -> Result<Exit, Error> {
    let (scope, now) = (desk::scope(whose)?, desk::now(whose)?);
    let sweep = Sweep { run_ended: args.run_ended, used: args.used };
    let memory = desk::look(whose)?;
    wait(async {
        let swept = if args.dry_run {
            memory.would_sweep(&scope, sweep, now).await?
        } else {
            memory.sweep(&scope, sweep, now).await?
        };
        if json {
            let Swept { events, insights, spared } = swept;
            output::json(&json!({
                "dry_run": args.dry_run,
                "events": events,
                "insights": insights,
                "spared": spared,
            }));
        } else {
            output::talk(&told(swept, args.dry_run));
        }
        Ok(Exit::Good)
    })
}

fn told(swept: Swept, dry_run: bool) -> String {
    let Swept { events, insights, spared } = swept;
    let counted =
        format!("{}, {}", desk::counted(events, "event"), desk::counted(insights, "insight"));
    let mut told = match (events + insights, dry_run) {
        (0, _) => "nothing is over that can go".to_owned(),
        (_, true) => format!("{counted} would go; nothing was changed"),
        (_, false) => format!("{GOOD}gone{GOOD:#}: {counted}"),
    };
    if spared > 0 {
        told.push_str(". ");
        told.push_str(&if spared == 1 {
            "1 row that is over stays: a build used it, or it is a guess that was not validated; `--used` takes it too".to_owned()
        } else {
            format!(
                "{spared} rows that are over stay: builds used them, or they are guesses that were not validated; `--used` takes them too"
            )
        });
    }
    told
}
