//! `countersign export RUN`: writes a run to one file.

use countersign_runtime::private_files;
use countersign_runtime::transfer::export_run;
use serde_json::json;

use crate::args::ExportArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;

pub(super) fn run(args: &ExportArgs, json: bool) -> Result<CliExit, CliError> {
    block_on(async {
        let context = CliContext::open_existing(&args.store_args)?;
        let run = context.resolve_run(Some(&args.run)).await?;
        let text = export_run(&context.engine, &run).await?;
        let file = args.output.as_ref().filter(|file| file.as_os_str() != "-");
        let Some(file) = file else {
            output::print_json_text(&text);
            return Ok(CliExit::Success);
        };
        let shown = file.display().to_string();
        private_files::write_output(file, text.as_bytes())
            .map_err(|source| CliError::Unwritable { what: shown.clone(), source })?;
        if json {
            output::print_json(&json!({ "run": run, "file": shown, "bytes": text.len() }));
        } else {
            output::print_message(&format!(
                "exported run {run} to {shown}: {} lines, {} bytes. The file contains prompts, replies and documents in full.",
                text.lines().count(),
                text.len()
            ));
        }
        Ok(CliExit::Success)
    })
}
