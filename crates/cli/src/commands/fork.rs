//! `countersign fork RUN --at-version VERSION`: starts a new run from a version of another and shows the
//! difference.

use std::sync::Arc;

use countersign_contract::patch::Patch;
use countersign_runtime::engine::ForkOptions;
use countersign_runtime::run_observer::{NoopRunObserver, RunObserver};

use super::diff;
use super::run::{InteractionMode, drive_run};
use super::trust;
use crate::args::ForkArgs;
use crate::context::{CliContext, block_on, load_protocol_folder};
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::progress::ProgressPrinter;

pub(super) fn run(args: &ForkArgs, json: bool) -> Result<CliExit, CliError> {
    let watch: Arc<dyn RunObserver> =
        if json { Arc::new(NoopRunObserver) } else { Arc::new(ProgressPrinter::default()) };
    block_on(async {
        let context = CliContext::open(&args.store_args, args.model.as_deref(), watch)?;
        trust::trust_own_model(&context)?;
        let run = context.resolve_run(Some(&args.run)).await?;
        // If another protocol is named, the fork uses it, so that a changed prompt or contract can
        // be tried.
        let protocol = match &args.store_args.protocol {
            Some(_) => Some(load_protocol_folder(&context.find_protocol_folder()?)?.0),
            None => None,
        };
        let (model, by) = (args.model.clone(), context.settings.user());
        let otherwise = ForkOptions {
            version: args.at_version,
            protocol,
            model,
            by,
            sender: Some(context.settings.sender()),
        };
        let (fork, version) = context.engine.fork_run(&run, otherwise, None).await?;
        if !json {
            output::print_message(&format!("run {fork} continues from version {version} of {run}"));
        }
        if args.detach {
            return Ok(report_detached(&fork, json));
        }
        let manner = if json { InteractionMode::Detached } else { InteractionMode::Interactive };
        let exit = drive_run(&context, &fork, manner, json).await?;
        if !json {
            print_comparison(&context, &run, &fork).await?;
        }
        Ok(exit)
    })
}

/// Prints the differences between the fork and the current state of its origin.
async fn print_comparison(context: &CliContext, run: &str, fork: &str) -> Result<(), CliError> {
    let (theirs, ours) =
        (context.engine.get_run(run).await?.state, context.engine.get_run(fork).await?.state);
    let patch = Patch::diff(&theirs.document, &ours.document);
    let (theirs_at, ours_at) = (theirs.version, ours.version);
    output::print_message(&format!("\nfrom {run}@{theirs_at} to {fork}@{ours_at}:"));
    output::print_data(&diff::format_changes((*theirs.document).clone(), &patch));
    Ok(())
}

fn report_detached(fork: &str, json: bool) -> CliExit {
    if json {
        output::print_json(&serde_json::json!({ "run": fork }));
    } else {
        output::print_message(&format!("Continue it with: countersign run --resume {fork}"));
    }
    CliExit::Success
}
