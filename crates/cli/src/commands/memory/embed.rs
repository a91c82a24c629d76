//! `countersign memory embed`: vectors for the events that have none.

use countersign_runtime::remember::{EmbedError, embed_all};
use serde_json::json;

use super::desk;
use crate::args::{Embed, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;

pub(super) fn run(whose: &Whose, args: &Embed, json: bool) -> Result<Exit, Error> {
    let subject = desk::scope(whose)?.subject();
    let embedder = desk::embedder(args.embedder.as_ref())?.ok_or_else(|| {
        Error::Usage(
            "which embedder? `--embedder` is missing; `COUNTERSIGN_EMBEDDER` and `embedder` in countersign.toml say it too"
                .to_owned(),
        )
    })?;
    let memory = desk::look(whose)?;
    let made = wait(async {
        let mut progress = |done: u64, all: u64| {
            if !json && all > 0 {
                output::passing(&format!("  {done} of {all} events"));
            }
        };
        let made = embed_all(&*memory, &*embedder, &subject, &mut progress).await;
        output::passing("");
        made.map_err(|error| match error {
            EmbedError::Memory(error) => Error::Memory(error),
            EmbedError::Model(error) => Error::Model(error),
            error @ EmbedError::Vector { .. } => Error::Usage(error.to_string()),
        })
    })?;
    if json {
        output::json(&json!({"embedder": embedder.name(), "made": made}));
        return Ok(Exit::Good);
    }
    output::talk(&match made {
        0 => format!("every event has a vector of {}", embedder.name()),
        made => format!("{} by {}", desk::counted(made, "new vector"), embedder.name()),
    });
    Ok(Exit::Good)
}
