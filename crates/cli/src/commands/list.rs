//! `countersign list`: the runs, the newest first.

use countersign_core::run::{Status, Time};
use countersign_server::wire::RunRow;
use countersign_store::{Head, RunFilter};
use serde_json::json;

use crate::args::List;
use crate::elapsed;
use crate::exit::{Error, Exit};
use crate::house::{House, NO_RUN, wait};
use crate::output;
use crate::show::{HEADING, status_style};
use crate::table::table;
use countersign_server::show::{describe_parking, shortened};

pub(super) fn run(args: &List, json: bool) -> Result<Exit, Error> {
    let status = args.status.as_deref().map(known).transpose()?;
    wait(async {
        let Some(house) = House::find(&args.site)? else {
            tell(&[], Time::default(), json, NO_RUN);
            return Ok(Exit::Good);
        };
        let mut filter = RunFilter::newest(house.engine.tenant().clone(), args.limit);
        filter.status = status.map(|status| status.as_str().to_owned());
        filter.workflow.clone_from(&args.workflow);
        let heads = house.engine.store().runs(&filter).await?;
        let filtered = args.status.is_some() || args.workflow.is_some();
        let empty =
            if filtered { "no run is like that; `countersign list` shows all" } else { NO_RUN };
        tell(&heads, house.engine.clock().now(), json, empty);
        if !json && heads.len() == args.limit {
            output::talk(&format!("The newest {}; more with --limit.", args.limit));
        }
        Ok(Exit::Good)
    })
}

fn known(word: &str) -> Result<Status, Error> {
    Status::ALL.into_iter().find(|status| status.as_str() == word).ok_or_else(|| {
        let all = Status::ALL.map(Status::as_str).join(", ");
        Error::Usage(format!("no status `{word}`; there are {all}"))
    })
}

fn tell(heads: &[Head], now: Time, json: bool, empty: &str) {
    if json {
        let rows = heads.iter().cloned().map(|head| RunRow::new(head, now));
        output::json(&json!(rows.collect::<Vec<_>>()));
        return;
    }
    if heads.is_empty() {
        output::talk(empty);
        return;
    }
    let rows: Vec<[String; 7]> = heads.iter().map(|head| row(head, now)).collect();
    let header = ["RUN", "WORKFLOW", "PHASE", "STATUS", "VERSION", "CHANGED", "WHY"];
    output::data(&table(header, &rows));
}

fn row(head: &Head, now: Time) -> [String; 7] {
    let style = known(&head.status).map(status_style).unwrap_or_default();
    [
        format!("{HEADING}{}{HEADING:#}", head.run.id),
        head.workflow.clone(),
        head.phase.clone(),
        format!("{style}{}{style:#}", head.status),
        head.version.to_string(),
        elapsed::ago(now, Time(head.updated_at)),
        describe_parking(head, now).unwrap_or_else(|| shortened(&head.summary, 60)),
    ]
}
