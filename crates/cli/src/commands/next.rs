//! `countersign next RUN`: prints everything that a person needs to reply in the model's place.

use std::sync::Arc;

use countersign_view::wire::NextStep;
use serde_json::json;

use super::serve::WarningPrinter;
use crate::args::NextArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;

pub(super) fn run(args: &NextArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open(&args.store_args, None, Arc::new(WarningPrinter))?;
        let run = context.resolve_run(args.run.as_deref()).await?;
        let live = context.engine.load_version(&run, None).await?;
        let next = NextStep::load(&context.engine, &live).await;
        if json {
            output::print_json(&json!(next));
        } else {
            output::print_data(&next.render_text());
        }
        Ok(CliExit::Success)
    })
}
