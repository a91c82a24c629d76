//! `countersign memory embed`: computes vectors for the events that have none.

use countersign_runtime::memory_context::{EmbedError, embed_all};
use serde_json::json;

use super::open_memory;
use crate::args::{MemoryEmbedArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemoryEmbedArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let subject = open_memory::resolve_scope(whose)?.subject();
    let embedder = open_memory::connect_embedder(args.embedder.as_ref())?.ok_or_else(|| {
        CliError::Usage(
            "`--embedder` is missing; you can also set `COUNTERSIGN_EMBEDDER`, or `embedder` in countersign.toml"
                .to_owned(),
        )
    })?;
    let memory = open_memory::open_existing(whose)?;
    let made = block_on(async {
        let mut progress = |done: u64, all: u64| {
            if !json && all > 0 {
                output::print_transient(&format!("  {done} of {all} events"));
            }
        };
        let made = embed_all(&*memory, &*embedder, &subject, &mut progress).await;
        output::print_transient("");
        made.map_err(|error| match error {
            EmbedError::Memory(error) => CliError::Memory(error),
            EmbedError::Model(error) => CliError::Model(error),
            error @ EmbedError::Vector { .. } => CliError::Usage(error.to_string()),
        })
    })?;
    if json {
        output::print_json(&json!({"embedder": embedder.name(), "embedded": made}));
        return Ok(CliExit::Success);
    }
    output::print_message(&match made {
        0 => format!("every event already has a vector from {}", embedder.name()),
        made => format!("{} by {}", open_memory::pluralize(made, "new vector"), embedder.name()),
    });
    Ok(CliExit::Success)
}
