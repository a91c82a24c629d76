//! `countersign show [RUN]`: prints the document of a run or a part of it, now or at a version.

use countersign_contract::patch::JsonPointer;
use serde_json::{Value, json};

use crate::args::ShowArgs;
use crate::context::{CliContext, block_on};
use crate::exit::{CliError, CliExit};
use crate::output;

pub(super) fn run(args: &ShowArgs, _json: bool) -> Result<CliExit, CliError> {
    let pointer = args.pointer.as_deref().map(JsonPointer::parse).transpose();
    let pointer = pointer.map_err(|error| CliError::Usage(format!("--pointer: {error}")))?;
    block_on(async {
        let context = CliContext::open_existing(&args.store_args)?;
        let run = context.resolve_run(args.run.as_deref()).await?;
        let state = context.engine.load_version(&run, args.at_version).await?.state;
        let whole = if args.state { json!(state) } else { (*state.document).clone() };
        output::print_json(match &pointer {
            Some(pointer) => find_value(&whole, pointer.as_str())?,
            None => &whole,
        });
        Ok(CliExit::Success)
    })
}

/// Returns the value at a pointer; the error lists what the nearest existing parent contains.
fn find_value<'v>(whole: &'v Value, pointer: &str) -> Result<&'v Value, CliError> {
    if let Some(value) = whole.pointer(pointer) {
        return Ok(value);
    }
    let mut around = pointer;
    let found = loop {
        around = countersign_contract::json::parent_pointer(around).unwrap_or_default();
        if let Some(found) = whole.pointer(around) {
            break found;
        }
    };
    let location = if around.is_empty() { "the document" } else { around };
    let has = match found {
        Value::Object(members) if members.is_empty() => "is an empty object".to_owned(),
        Value::Object(members) => {
            let names: Vec<&str> = members.keys().map(String::as_str).collect();
            format!("has {}", names.join(", "))
        }
        Value::Array(items) => format!("is a list of {}", items.len()),
        other => format!("is {other}"),
    };
    Err(CliError::Usage(format!("there is no value at `{pointer}`; {location} {has}")))
}
