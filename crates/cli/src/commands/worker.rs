//! `countersign worker`: works on runs that are due until it is told to stop.

use std::sync::Arc;

use countersign_core::run::Status;
use countersign_runtime::clock::Clock as _;
use countersign_runtime::clock::SystemClock;
use countersign_runtime::driver::{Driver, Rest};
use countersign_runtime::engine::fresh_name;
use countersign_runtime::watch::Unwatched;
use countersign_runtime::worker::{Crew, Ending, News, Report, Stopper, Terms, Worker};
use countersign_store::TenantId;
use serde_json::{Map, Value, json};

use crate::args;
use crate::elapsed::{moment, stretch};
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::output;
use crate::show::status_style;
use crate::signals::Signals;

/// How long a result is offered to a store that is away, in milliseconds: what a model said is dear.
const PATIENCE: i64 = 10 * 60 * 1000;

pub(super) fn run(args: &args::Worker, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house =
            House::open_remembering(&args.site, None, Arc::new(Unwatched), !args.no_memory)?
                .with_allowed(&args.allow)?;
        let host = host();
        let name = args
            .name
            .clone()
            .unwrap_or_else(|| format!("{host}-{}-{}", std::process::id(), fresh_name()));
        let (driver, presence) = house.driver_called(&name)?;
        let driver = Arc::new(driver.with_term(args.lease).with_patience(PATIENCE));
        let terms = Terms {
            host,
            capacity: usize::from(args.capacity),
            per_tenant: args.per_tenant.map_or(usize::MAX, |most| most as usize),
            // Files, programs and scripts are this folder's, and so this tenant's.
            tenants: vec![house.engine.tenant().clone()],
            term: args.lease,
            grace: args.grace,
            poll: args.poll,
            ..Terms::new(name)
        };
        let report: Arc<dyn Report> = Arc::new(Lines { terms: terms.clone(), json });
        let (store, clock) = (Arc::clone(house.engine.store()), Arc::clone(house.engine.clock()));
        let worker = Worker::new(store, clock, Arc::new(One(driver)), report, terms);
        let worker = match presence {
            Some(presence) => worker.present(presence),
            None => worker,
        };
        let ending = match (args.once, args.until_idle) {
            (true, _) => Ending::Once,
            (false, true) => Ending::Idle,
            (false, false) => Ending::Told,
        };
        let (stopper, stop) = Stopper::new();
        let mut signals = Signals::listen();
        tokio::spawn(async move {
            loop {
                signals.next().await;
                stopper.stop();
            }
        });
        worker.work(ending, stop).await?;
        Ok(Exit::Good)
    })
}

/// The one driver of the one tenant that a folder of work belongs to.
struct One(Arc<Driver>);

impl Crew for One {
    fn driver(&self, _: &TenantId) -> Result<Arc<Driver>, String> {
        Ok(Arc::clone(&self.0))
    }

    fn drivers(&self) -> Vec<Arc<Driver>> {
        vec![Arc::clone(&self.0)]
    }
}

/// The name of this machine.
pub(super) fn host() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = crate::settings::env("COMPUTERNAME").unwrap_or_default();
    let plain = |one: &char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_');
    let short: String = name.chars().take_while(|one| *one != '.').filter(plain).collect();
    if short.is_empty() { "worker".to_owned() } else { short.chars().take(32).collect() }
}

/// News as lines: for people on standard error, for programs on standard output.
struct Lines {
    terms: Terms,
    json: bool,
}

impl Report for Lines {
    fn told(&self, news: News) {
        let now = SystemClock.now();
        if self.json {
            let mut line = Map::new();
            line.insert("at".to_owned(), json!(now));
            line.insert("worker".to_owned(), json!(self.terms.name));
            line.extend(as_json(&news));
            output::json_line(&Value::Object(line));
        } else {
            let text = self.text(&news);
            let time = moment(now);
            let time = time.split(' ').next_back().unwrap_or_default();
            output::talk(&format!("{time} {text}"));
        }
    }
}

impl Lines {
    fn text(&self, news: &News) -> String {
        let Terms { name, capacity, term, .. } = &self.terms;
        let stretch = |millis: i64| stretch(millis.unsigned_abs());
        match news {
            News::Began => {
                let runs = if *capacity == 1 { "one run" } else { &format!("{capacity} runs") };
                format!("worker {name} is here: {runs} at once, leases of {}", stretch(*term))
            }
            News::Took(run) => format!("{} begins", run.id),
            News::Rested(run, rest) => format!("{} {}", run.id, rested(rest)),
            News::Lost(run) => {
                format!("{} went to another worker; nothing of it was kept here", run.id)
            }
            News::Failed(run, why) => {
                format!("{} cannot be worked on: {why}; it is looked at again in a while", run.id)
            }
            News::Away(why) => format!("the store is away: {why}; waiting for it"),
            News::Back(after) => format!("the store is back after {}", stretch(*after)),
            News::Stopping(runs) => format!(
                "stopping: nothing new is taken; {} may end, for {} at most",
                counted(*runs, "step"),
                stretch(self.terms.grace)
            ),
            News::Stopped(0) => format!("worker {name} has stopped and holds nothing"),
            News::Stopped(runs) => format!(
                "worker {name} has stopped; {} handed back in the middle of a step",
                counted(*runs, "run")
            ),
        }
    }
}

fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Where a run rests, in a few words.
fn rested(rest: &Rest) -> String {
    match rest {
        Rest::Ended(status) => {
            let style = status_style(*status);
            format!("{style}{}{style:#}", status.as_str())
        }
        Rest::Halted => {
            let style = status_style(Status::Halted);
            format!("{style}halted{style:#}; `countersign status` tells why")
        }
        Rest::Waiting => {
            let style = status_style(Status::Waiting);
            format!("{style}waits{style:#} for somebody; `countersign inbox` tells for what")
        }
        Rest::Until(at) => format!("goes on at {}", moment(*at)),
        Rest::NeedsReply => "asks a model, and none is named; `countersign next` tells".to_owned(),
        Rest::Child(child) => format!("waits for run {child}"),
        Rest::Held | Rest::Stopped => "is handed back".to_owned(),
        Rest::Parked => "is parked; `countersign status` tells why".to_owned(),
    }
}

fn as_json(news: &News) -> Map<String, Value> {
    let value = match news {
        News::Began => json!({ "news": "began" }),
        News::Took(run) => json!({ "news": "took", "run": run.id }),
        News::Rested(run, rest) => {
            let (state, more) = match rest {
                Rest::Ended(status) => (status.as_str(), Value::Null),
                Rest::Halted => ("halted", Value::Null),
                Rest::Waiting => ("waiting", Value::Null),
                Rest::Until(at) => ("until", json!(at)),
                Rest::NeedsReply => ("needs_reply", Value::Null),
                Rest::Child(child) => ("child", json!(child)),
                Rest::Held | Rest::Stopped => ("handed_back", Value::Null),
                Rest::Parked => ("parked", Value::Null),
            };
            json!({ "news": "rested", "run": run.id, "rest": state, "of": more })
        }
        News::Lost(run) => json!({ "news": "lost", "run": run.id }),
        News::Failed(run, why) => json!({ "news": "failed", "run": run.id, "why": why }),
        News::Away(why) => json!({ "news": "store_away", "why": why }),
        News::Back(after) => json!({ "news": "store_back", "after": after }),
        News::Stopping(runs) => json!({ "news": "stopping", "runs": runs }),
        News::Stopped(runs) => json!({ "news": "stopped", "handed_back": runs }),
    };
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
