//! `countersign inbox [RUN]`: what waits for a person, the nearest deadline first.

use countersign_core::run::{Time, Wait, WaitKind};
use countersign_server::show::{describe_parking, waiting};
use countersign_server::wire::InboxRow;
use countersign_store::{Head, WaitFilter, WaitRow};
use serde_json::json;

use crate::args::Inbox;
use crate::elapsed::{ago, until};
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::output;
use crate::show::{BAD, DIM, HEADING};

/// Every kind of wait.
const KINDS: [WaitKind; 6] = [
    WaitKind::Question,
    WaitKind::Document,
    WaitKind::Approval,
    WaitKind::Budget,
    WaitKind::Work,
    WaitKind::Trouble,
];

pub(super) fn run(args: &Inbox, json: bool) -> Result<Exit, Error> {
    let kind = args.kind.as_deref().map(known).transpose()?;
    wait(async {
        let (waits, parked) = match House::find(&args.site)? {
            Some(house) => (found(&house, args, kind).await?, parked(&house, args).await?),
            None => (Vec::new(), Vec::new()),
        };
        if !json {
            for line in &parked {
                output::data(line);
            }
        }
        if json {
            let rows = waits.iter().map(|(run, wait)| InboxRow::of(run, wait));
            output::json(&json!(rows.collect::<Vec<_>>()));
        } else if waits.is_empty() && !parked.is_empty() {
            output::talk("Nothing else waits for anybody.");
        } else if waits.is_empty() {
            output::talk("Nothing waits for anybody. `countersign list` shows the runs.");
        } else {
            let now =
                countersign_runtime::clock::Clock::now(&countersign_runtime::clock::SystemClock);
            for (run, wait) in &waits {
                output::data(&told(run, wait, now));
            }
            if waits.len() == args.limit {
                output::talk(&format!("The first {}; more with --limit.", args.limit));
            }
        }
        Ok(Exit::Good)
    })
}

fn known(word: &str) -> Result<WaitKind, Error> {
    KINDS.into_iter().find(|kind| kind.as_str() == word).ok_or_else(|| {
        let all = KINDS.map(WaitKind::as_str).join(", ");
        Error::Usage(format!("no kind of wait `{word}`; there are {all}"))
    })
}

async fn found(
    house: &House,
    args: &Inbox,
    kind: Option<WaitKind>,
) -> Result<Vec<(String, Wait)>, Error> {
    let mut filter = WaitFilter::all(house.engine.tenant().clone(), args.limit);
    filter.kind = kind.map(|kind| kind.as_str().to_owned());
    if let Some(named) = &args.run {
        filter.run = Some(house.run(Some(named)).await?);
    }
    let rows = house.engine.store().waits(&filter).await?;
    rows.into_iter().map(read).collect()
}

/// Runs that go on only when somebody says so, because workers ended on them.
async fn parked(house: &House, args: &Inbox) -> Result<Vec<String>, Error> {
    if args.kind.is_some() {
        return Ok(Vec::new());
    }
    let engine = &house.engine;
    let now = engine.clock().now();
    let heads = engine.store().parked(engine.tenant(), now.0, args.limit).await?;
    let named = match &args.run {
        Some(named) => Some(house.run(Some(named)).await?),
        None => None,
    };
    let heads = heads.iter().filter(|head| named.as_ref().is_none_or(|run| *run == head.run.id));
    let line = |head: &Head| {
        let parked = describe_parking(head, now)?;
        Some(format!("{HEADING}{}{HEADING:#}  {BAD}{parked}{BAD:#}\n\n", head.run.id))
    };
    Ok(heads.filter_map(line).collect())
}

fn read(row: WaitRow) -> Result<(String, Wait), Error> {
    let wait = serde_json::from_str(&row.body).map_err(|error| {
        let what = format!("wait {} of run {} cannot be read: {error}", row.id, row.run.id);
        Error::Store(countersign_store::StoreError::Corrupt { what })
    })?;
    Ok((row.run.id, wait))
}

fn told(run: &str, wait: &Wait, now: Time) -> String {
    let left = match wait.deadline {
        Some(at) if at < now => format!("{BAD}{}{BAD:#}", until(now, at)),
        Some(at) => until(now, at),
        None => "no deadline".to_owned(),
    };
    let who = wait.who.as_deref().unwrap_or("anybody");
    let mut text = format!(
        "{HEADING}{run}/{}{HEADING:#}  {}  {left}\n    {}\n",
        wait.id,
        wait.kind.as_str(),
        wait.question.trim().replace('\n', "\n    "),
    );
    if let Some(shape) = waiting::shape(wait) {
        text.push_str(&format!("    {shape}\n"));
    }
    text.push_str(&format!(
        "    {DIM}for {who}, in phase {}, asked {}{DIM:#}\n",
        wait.phase,
        ago(now, wait.opened_at)
    ));
    text.push_str(&format!("    {DIM}{}{DIM:#}\n\n", waiting::answered_by(run, wait)));
    text
}
