//! `countersign export RUN`: a run as one file.

use countersign_runtime::private;
use countersign_runtime::transfer::export;
use serde_json::json;

use crate::args::Export;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::output;

pub(super) fn run(args: &Export, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::look(&args.site)?;
        let run = house.run(Some(&args.run)).await?;
        let text = export(&house.engine, &run).await?;
        let file = args.output.as_ref().filter(|file| file.as_os_str() != "-");
        let Some(file) = file else {
            output::json_text(&text);
            return Ok(Exit::Good);
        };
        let shown = file.display().to_string();
        private::write_output(file, text.as_bytes())
            .map_err(|source| Error::Unwritable { what: shown.clone(), source })?;
        if json {
            output::json(&json!({ "run": run, "file": shown, "bytes": text.len() }));
        } else {
            output::talk(&format!(
                "run {run} is in {shown}: {} lines, {} bytes. It holds prompts, replies and documents in full.",
                text.lines().count(),
                text.len()
            ));
        }
        Ok(Exit::Good)
    })
}
