//! `countersign replay [RUN]`: the states a run went through; with `--verify`, the proof of them.

use std::time::Instant;

use countersign_core::json;
use countersign_core::patch::Patch;
use countersign_core::run::{Event, Fault, State, fold};
use countersign_runtime::engine::EngineError;
use countersign_runtime::proof::{Flaw, prove};
use countersign_store::{RunFilter, StoreError};
use serde_json::{Value, json};

use crate::args::Replay;
use crate::elapsed::moment;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::show::{BAD, DIM, GOOD, HEADING, status_style};
use crate::table::{shortened, table};
use crate::{incoming, output};

pub(super) fn run(args: &Replay, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::look(&args.site)?;
        let runs = match (&args.run, args.all) {
            (_, true) => every(&house).await?,
            (named, false) => vec![house.run(named.as_deref()).await?],
        };
        let mut results = Vec::new();
        let mut good = true;
        for run in &runs {
            let result = if args.verify {
                proof(&house, run, json).await?
            } else {
                states(&house, run, json).await?
            };
            good &= result["good"] != Value::Bool(false);
            results.push(result);
        }
        if json {
            output::json(&if args.all { results.into() } else { results.remove(0) });
        } else if args.all && args.verify {
            let held = results.iter().filter(|one| one["good"] == true).count();
            output::talk(&format!("{held} of {} runs prove themselves", runs.len()));
        }
        Ok(if good { Exit::Good } else { Exit::Refused })
    })
}

/// Every run of the store, the oldest first.
async fn every(house: &House) -> Result<Vec<String>, Error> {
    let mut filter = RunFilter::newest(house.engine.tenant().clone(), 1_000);
    let mut runs = Vec::new();
    loop {
        let page = house.engine.store().runs(&filter).await?;
        filter.after = page.last().map(countersign_store::Head::cursor);
        let full = page.len() == filter.limit;
        runs.extend(page.into_iter().map(|head| head.run.id));
        if !full {
            break;
        }
    }
    runs.reverse();
    Ok(runs)
}

async fn proof(house: &House, run: &str, json: bool) -> Result<Value, Error> {
    let began = Instant::now();
    let proved = match prove(&house.engine, run).await {
        Ok(proved) => proved.map_err(|flaw| told(&flaw)),
        // A log that cannot be read, or a protocol that cannot decide again: that is an answer too.
        Err(
            error @ (EngineError::Protocol { .. }
            | EngineError::Corrupt { .. }
            | EngineError::Store(StoreError::Corrupt { .. })),
        ) => Err(error.to_string()),
        Err(other) => return Err(other.into()),
    };
    let seconds = began.elapsed().as_secs_f64();
    match proved {
        Ok(proof) => {
            let rate = (proof.events as f64 / seconds.max(1e-6)) as u64;
            if !json {
                output::talk(&format!(
                    "{GOOD}proved{GOOD:#}: run {HEADING}{run}{HEADING:#} is what its log says"
                ));
                output::talk(&format!(
                    "  {} events, {} versions decided again in {:.1} ms, {rate} events a second",
                    proof.events,
                    proof.versions,
                    seconds * 1e3
                ));
                output::talk(&format!("  last hash {}", proof.hash));
            }
            Ok(json!({
                "run": run,
                "good": true,
                "events": proof.events,
                "versions": proof.versions,
                "hash": proof.hash,
                "seconds": seconds,
                "events_per_second": rate,
            }))
        }
        Err(fault) => {
            if !json {
                output::talk(&format!(
                    "{BAD}not proved{BAD:#}: run {HEADING}{run}{HEADING:#}: {fault}"
                ));
            }
            Ok(json!({ "run": run, "good": false, "fault": fault }))
        }
    }
}

/// A fault in words. Where a decision comes out otherwise, only what differs is shown, not two whole events.
fn told(flaw: &Flaw) -> String {
    let Flaw::Log(Fault::Differs { version, seq, again, kept }) = flaw else {
        return flaw.to_string();
    };
    let Ok(ours) = serde_json::from_str::<Value>(again) else { return flaw.to_string() };
    let Ok(theirs) = serde_json::from_str::<Value>(kept) else {
        let kind = ours["event"].as_str().unwrap_or_default();
        return format!("version {version}: the log ends before event {seq} (`{kind}`)");
    };
    let patch = Patch::between(&ours, &theirs);
    let places = patch.ops.iter().map(|op| {
        let at = op.path().as_str();
        let side = |value: &Value| {
            let found = value.pointer(at).map(Value::to_string);
            found.map_or_else(|| "nothing".to_owned(), |found| shortened(&found, 100))
        };
        format!("  {at}: decided again {}, in the log {}", side(&ours), side(&theirs))
    });
    format!(
        "version {version}, event {seq}: deciding again does not give what the log has\n{}",
        places.collect::<Vec<_>>().join("\n")
    )
}

async fn states(house: &House, run: &str, json: bool) -> Result<Value, Error> {
    let log = house.engine.log(run).await?;
    let corrupt = |source| Error::Engine(EngineError::corrupt(run.to_owned(), source));
    let mut state = State::blank(run);
    let (mut rows, mut listed) = (Vec::new(), Vec::new());
    for one in log {
        let events = fold(&mut state, &one.body).map_err(corrupt)?;
        let came = events.iter().find_map(|event| match event {
            Event::Received { input } => Some(incoming::sentence(&input.what)),
            _ => None,
        });
        let came = came.unwrap_or_default();
        let digest = json::digest(&state.document);
        let status = state.status();
        let style = status_style(status);
        let short = digest.strip_prefix("sha256:").and_then(|digest| digest.get(..12));
        rows.push([
            state.version.to_string(),
            moment(state.updated_at),
            state.phase.clone(),
            format!("{style}{}{style:#}", status.as_str()),
            format!("{DIM}{}{DIM:#}", short.unwrap_or(&digest)),
            came,
        ]);
        listed.push(json!({
            "version": state.version,
            "time": state.updated_at,
            "phase": state.phase,
            "status": status.as_str(),
            "document": digest,
            "hash": one.hash,
        }));
    }
    if !json {
        output::talk(&format!("run {HEADING}{run}{HEADING:#}"));
        let header = ["VERSION", "TIME", "PHASE", "STATUS", "DOCUMENT", "WHAT CAME"];
        output::data(&table(header, &rows));
    }
    Ok(json!({ "run": run, "states": listed }))
}
