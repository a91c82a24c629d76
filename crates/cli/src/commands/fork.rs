//! `countersign fork RUN --at VERSION`: a new run from a version of another, and what it made different.

use std::sync::Arc;

use countersign_core::patch::Patch;
use countersign_runtime::engine::Otherwise;
use countersign_runtime::watch::{Unwatched, Watch};

use super::diff;
use super::run::{Manner, work};
use super::trust;
use crate::args::Fork;
use crate::exit::{Error, Exit};
use crate::house::{House, protocol, wait};
use crate::output;
use crate::progress::Progress;

pub(super) fn run(args: &Fork, json: bool) -> Result<Exit, Error> {
    let watch: Arc<dyn Watch> =
        if json { Arc::new(Unwatched) } else { Arc::new(Progress::default()) };
    wait(async {
        let house = House::open(&args.site, args.model.as_deref(), watch)?;
        trust::trust_own_model(&house)?;
        let run = house.run(Some(&args.run)).await?;
        // Another protocol where one is named, so that a changed prompt or contract can be tried.
        let protocol = match &args.site.protocol {
            Some(_) => Some(protocol(&house.protocol_folder()?)?.0),
            None => None,
        };
        let (model, by) = (args.model.clone(), house.settings.user());
        let otherwise = Otherwise { at: args.at, protocol, model, by };
        let (fork, version) = house.engine.fork(&run, otherwise, None).await?;
        if !json {
            output::talk(&format!("run {fork} goes on from version {version} of {run}"));
        }
        if args.detach {
            return Ok(work_not(&fork, json));
        }
        let manner = if json { Manner::Leaves } else { Manner::Talks };
        let exit = work(&house, &fork, manner, json).await?;
        if !json {
            compare(&house, &run, &fork).await?;
        }
        Ok(exit)
    })
}

/// What the fork made otherwise, beside the run it came from as that is now.
async fn compare(house: &House, run: &str, fork: &str) -> Result<(), Error> {
    let (theirs, ours) =
        (house.engine.look(run).await?.state, house.engine.look(fork).await?.state);
    let patch = Patch::between(&theirs.document, &ours.document);
    let (theirs_at, ours_at) = (theirs.version, ours.version);
    output::talk(&format!("\nfrom {run}@{theirs_at} to {fork}@{ours_at}:"));
    output::data(&diff::lines((*theirs.document).clone(), &patch));
    Ok(())
}

fn work_not(fork: &str, json: bool) -> Exit {
    if json {
        output::json(&serde_json::json!({ "run": fork }));
    } else {
        output::talk(&format!("It is left there: countersign run --resume {fork}"));
    }
    Exit::Good
}
