//! `countersign worker`: drives due runs until it is stopped.

use std::sync::Arc;

use countersign_run::ExecutionStatus;
use countersign_runtime::clock::Clock as _;
use countersign_runtime::clock::SystemClock;
use countersign_runtime::driver::{Driver, IdleReason};
use countersign_runtime::engine::generate_run_name;
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_runtime::worker::{
    DriverProvider, Worker, WorkerConfig, WorkerEvent, WorkerExitPolicy, WorkerObserver,
    WorkerStopHandle,
};
use countersign_store::TenantId;
use serde_json::{Map, Value, json};

use crate::args;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::status_style;
use crate::signals::TerminationSignals;
use crate::time_format::{format_duration, format_timestamp};

/// How long to retry storing a result while the store is unavailable, in milliseconds. Model
/// replies are expensive, so they are not dropped early.
const STORE_RETRY_MS: i64 = 10 * 60 * 1000;

pub(super) fn run(args: &args::WorkerArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open_with_memory(
            &args.store_args,
            None,
            Arc::new(NoopRunObserver),
            !args.no_memory,
        )?
        .with_allow_list(&args.allow)?;
        let host = host_name();
        let name = args
            .name
            .clone()
            .unwrap_or_else(|| format!("{host}-{}-{}", std::process::id(), generate_run_name()));
        let (driver, presence) = context.build_named_driver(&name)?;
        let driver = Arc::new(driver.with_lease_ttl(args.lease).with_store_retry(STORE_RETRY_MS));
        let terms = WorkerConfig {
            host,
            capacity: usize::from(args.capacity),
            max_per_tenant: args.per_tenant.map_or(usize::MAX, |most| most as usize),
            // Files, programs and scripts belong to this folder and therefore to this tenant.
            tenants: vec![context.engine.tenant().clone()],
            lease_ttl: args.lease,
            grace_period: args.grace,
            poll_interval: args.poll,
            ..WorkerConfig::new(name)
        };
        let report: Arc<dyn WorkerObserver> = Arc::new(WorkerLog { terms: terms.clone(), json });
        let (store, clock) =
            (Arc::clone(context.engine.store()), Arc::clone(context.engine.clock()));
        let worker = Worker::new(store, clock, Arc::new(SingleDriver(driver)), report, terms);
        let worker = match presence {
            Some(presence) => worker.with_heartbeat(presence),
            None => worker,
        };
        let ending = match (args.once, args.until_idle) {
            (true, _) => WorkerExitPolicy::AfterFirstBatch,
            (false, true) => WorkerExitPolicy::WhenIdle,
            (false, false) => WorkerExitPolicy::OnStop,
        };
        let (stopper, stop) = WorkerStopHandle::new();
        let mut signals = TerminationSignals::listen();
        tokio::spawn(async move {
            loop {
                signals.recv().await;
                stopper.stop();
            }
        });
        worker.run(ending, stop).await?;
        Ok(CliExit::Success)
    })
}

/// Provides the only driver for the only tenant of a workspace.
struct SingleDriver(Arc<Driver>);

impl DriverProvider for SingleDriver {
    fn get_driver(&self, _: &TenantId) -> Result<Arc<Driver>, String> {
        Ok(Arc::clone(&self.0))
    }

    fn list_drivers(&self) -> Vec<Arc<Driver>> {
        vec![Arc::clone(&self.0)]
    }
}

/// Returns the host name of this machine.
pub(super) fn host_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = crate::settings::env_var("COMPUTERNAME").unwrap_or_default();
    let plain = |one: &char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_');
    let short: String = name.chars().take_while(|one| *one != '.').filter(plain).collect();
    if short.is_empty() { "worker".to_owned() } else { short.chars().take(32).collect() }
}

/// Prints worker events as lines: text on standard error, JSON on standard output.
struct WorkerLog {
    terms: WorkerConfig,
    json: bool,
}

impl WorkerObserver for WorkerLog {
    fn on_event(&self, news: WorkerEvent) {
        let now = SystemClock.now();
        if self.json {
            let mut line = Map::new();
            line.insert("time".to_owned(), json!(now));
            line.insert("worker".to_owned(), json!(self.terms.name));
            line.extend(event_to_json(&news));
            output::print_json_line(&Value::Object(line));
        } else {
            let text = self.format_event(&news);
            let time = format_timestamp(now);
            let time = time.split(' ').next_back().unwrap_or_default();
            output::print_message(&format!("{time} {text}"));
        }
    }
}

impl WorkerLog {
    fn format_event(&self, news: &WorkerEvent) -> String {
        let WorkerConfig { name, capacity, lease_ttl: term, .. } = &self.terms;
        let stretch = |millis: i64| format_duration(millis.unsigned_abs());
        match news {
            WorkerEvent::Started => {
                let runs = if *capacity == 1 { "one run" } else { &format!("{capacity} runs") };
                format!("worker {name} started: {runs} at once, leases of {}", stretch(*term))
            }
            WorkerEvent::RunTaken(run) => format!("{} starts", run.id),
            WorkerEvent::RunIdle(run, rest) => format!("{} {}", run.id, describe_idle_reason(rest)),
            WorkerEvent::LeaseLost(run) => {
                format!("{} went to another worker; unsaved work of this one was discarded", run.id)
            }
            WorkerEvent::RunFailed(run, why) => {
                format!("{} cannot continue: {why}; retrying later", run.id)
            }
            WorkerEvent::StoreUnavailable(why) => {
                format!("the store is unavailable: {why}; waiting for it")
            }
            WorkerEvent::StoreRecovered(after) => {
                format!("the store is available again after {}", stretch(*after))
            }
            WorkerEvent::Stopping(runs) => format!(
                "stopping: no new runs are taken; {} in progress may finish within {}",
                pluralize(*runs, "step"),
                stretch(self.terms.grace_period)
            ),
            WorkerEvent::Stopped(0) => format!("worker {name} has stopped and holds no runs"),
            WorkerEvent::Stopped(runs) => format!(
                "worker {name} has stopped; {} released in the middle of a step",
                pluralize(*runs, "run")
            ),
        }
    }
}

fn pluralize(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Describes why a run is idle, in a few words.
fn describe_idle_reason(rest: &IdleReason) -> String {
    match rest {
        IdleReason::Ended(status) => {
            let style = status_style(*status);
            format!("{style}{}{style:#}", status.as_str())
        }
        IdleReason::Halted => {
            let style = status_style(ExecutionStatus::Halted);
            format!("{style}halted{style:#}; `countersign status` shows why")
        }
        IdleReason::WaitingForInput => {
            let style = status_style(ExecutionStatus::Waiting);
            format!("{style}waits{style:#} for a person; `countersign inbox` shows for what")
        }
        IdleReason::WaitingUntil(at) => format!("continues at {}", format_timestamp(*at)),
        IdleReason::NeedsReply => {
            "needs a model, but none is configured; `countersign next` shows what it asks for"
                .to_owned()
        }
        IdleReason::WaitingForChild(child) => format!("waits for run {child}"),
        IdleReason::LeasedElsewhere | IdleReason::DriverStopped => "was released".to_owned(),
        IdleReason::Parked => "is parked; `countersign status` shows why".to_owned(),
    }
}

fn event_to_json(news: &WorkerEvent) -> Map<String, Value> {
    let value = match news {
        WorkerEvent::Started => json!({ "event": "started" }),
        WorkerEvent::RunTaken(run) => json!({ "event": "run_acquired", "run": run.id }),
        WorkerEvent::RunIdle(run, rest) => {
            let (state, more) = match rest {
                IdleReason::Ended(status) => (status.as_str(), Value::Null),
                IdleReason::Halted => ("halted", Value::Null),
                IdleReason::WaitingForInput => ("waiting", Value::Null),
                IdleReason::WaitingUntil(at) => ("waiting_until", json!(at)),
                IdleReason::NeedsReply => ("needs_reply", Value::Null),
                IdleReason::WaitingForChild(child) => ("waiting_for_child", json!(child)),
                IdleReason::LeasedElsewhere | IdleReason::DriverStopped => {
                    ("released", Value::Null)
                }
                IdleReason::Parked => ("parked", Value::Null),
            };
            json!({ "event": "run_idle", "run": run.id, "reason": state, "detail": more })
        }
        WorkerEvent::LeaseLost(run) => json!({ "event": "lease_lost", "run": run.id }),
        WorkerEvent::RunFailed(run, why) => {
            json!({ "event": "run_failed", "run": run.id, "message": why })
        }
        WorkerEvent::StoreUnavailable(why) => {
            json!({ "event": "store_unavailable", "message": why })
        }
        WorkerEvent::StoreRecovered(after) => json!({ "event": "store_recovered", "after": after }),
        WorkerEvent::Stopping(runs) => json!({ "event": "stopping", "runs": runs }),
        WorkerEvent::Stopped(runs) => json!({ "event": "stopped", "released": runs }),
    };
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
