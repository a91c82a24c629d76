//! `countersign show [RUN]`: the document of a run, or a place of it, now or at a version.

use countersign_core::patch::Pointer;
use serde_json::{Value, json};

use crate::args::Show;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::output;

pub(super) fn run(args: &Show, _json: bool) -> Result<Exit, Error> {
    let pointer = args.pointer.as_deref().map(Pointer::parse).transpose();
    let pointer = pointer.map_err(|error| Error::Usage(format!("--pointer: {error}")))?;
    wait(async {
        let house = House::look(&args.site)?;
        let run = house.run(args.run.as_deref()).await?;
        let state = house.engine.at(&run, args.at).await?.state;
        let whole = if args.state { json!(state) } else { (*state.document).clone() };
        output::json(match &pointer {
            Some(pointer) => at(&whole, pointer.as_str())?,
            None => &whole,
        });
        Ok(Exit::Good)
    })
}

/// What stands at a place, or what the nearest thing around it has.
fn at<'v>(whole: &'v Value, pointer: &str) -> Result<&'v Value, Error> {
    if let Some(value) = whole.pointer(pointer) {
        return Ok(value);
    }
    let mut around = pointer;
    let found = loop {
        around = countersign_core::json::parent(around).unwrap_or_default();
        if let Some(found) = whole.pointer(around) {
            break found;
        }
    };
    let place = if around.is_empty() { "the document" } else { around };
    let has = match found {
        Value::Object(members) if members.is_empty() => "is an empty object".to_owned(),
        Value::Object(members) => {
            let names: Vec<&str> = members.keys().map(String::as_str).collect();
            format!("has {}", names.join(", "))
        }
        Value::Array(items) => format!("is a list of {}", items.len()),
        other => format!("is {other}"),
    };
    Err(Error::Usage(format!("nothing stands at `{pointer}`; {place} {has}")))
}
