//! `countersign replay [RUN]`: the states a run went through; with `--verify`, the proof of them.

use countersign_core::json;
use countersign_core::run::{Event, State, fold};
use countersign_runtime::engine::EngineError;
use countersign_server::show::incoming;
use countersign_server::wire::{self, Proof};
use countersign_store::RunFilter;
use serde_json::{Value, json};

use crate::args::Replay;
use crate::elapsed::moment;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::output;
use crate::show::{BAD, DIM, GOOD, HEADING, status_style};
use crate::table::table;

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

/// Every run of the store that has its words, the oldest first.
async fn every(house: &House) -> Result<Vec<String>, Error> {
    let mut filter = RunFilter::newest(house.engine.tenant().clone(), 1_000);
    let (mut runs, mut pruned) = (Vec::new(), 0_u64);
    loop {
        let page = house.engine.store().runs(&filter).await?;
        filter.after = page.last().map(countersign_store::Head::cursor);
        let full = page.len() == filter.limit;
        for head in page {
            if head.pruned.is_some() {
                pruned += 1;
            } else {
                runs.push(head.run.id);
            }
        }
        if !full {
            break;
        }
    }
    if pruned > 0 {
        output::talk(&format!(
            "{pruned} runs were pruned and are passed over; `countersign store verify` follows their hashes"
        ));
    }
    runs.reverse();
    Ok(runs)
}

async fn proof(house: &House, run: &str, json: bool) -> Result<Value, Error> {
    let proof = wire::proof(&house.engine, run).await?;
    if !json {
        tell(&proof);
    }
    Ok(json!(proof))
}

fn tell(proof: &Proof) {
    let run = &proof.run;
    if let Some(fault) = &proof.fault {
        output::talk(&format!("{BAD}not proved{BAD:#}: run {HEADING}{run}{HEADING:#}: {fault}"));
        return;
    }
    output::talk(&format!(
        "{GOOD}proved{GOOD:#}: run {HEADING}{run}{HEADING:#} is what its log says"
    ));
    output::talk(&format!(
        "  {} events, {} versions decided again in {:.1} ms, {} events a second",
        proof.events.unwrap_or_default(),
        proof.versions.unwrap_or_default(),
        proof.seconds.unwrap_or_default() * 1e3,
        proof.events_per_second.unwrap_or_default(),
    ));
    output::talk(&format!("  last hash {}", proof.hash.as_deref().unwrap_or_default()));
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
