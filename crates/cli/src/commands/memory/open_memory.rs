//! Resolves the location, the scope and the current time of memory commands. Scope names have no
//! default: a missing name is an error and does not mean "all".

use std::path::Path;
use std::sync::Arc;

use countersign_memory::store::Memory;
use countersign_memory::{MemoryScope, PacketRequest};
use countersign_models::Embedder;
use countersign_run::Timestamp;
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::folder::EngineHome;
use countersign_runtime::memory_context::parse_time;

use crate::args::{ScopeArgs, StoreArgs};
use crate::exit::CliError;
use crate::output;
use crate::render::BAD;
use crate::settings::CliSettings;
use crate::store_location::StoreLocation;

/// The message for commands that need a memory when none exists.
pub(super) const NO_MEMORY_MESSAGE: &str =
    "the memory is empty; store something with `countersign memory remember`";

/// Opens the memory and creates it if it does not exist.
pub(super) fn open_or_create(whose: &ScopeArgs) -> Result<Arc<dyn Memory>, CliError> {
    match resolve_location(whose)? {
        Some(location) => location.open_memory(),
        None => StoreLocation::File(EngineHome::find_or_create(Path::new("."))?.memory_path())
            .open_memory(),
    }
}

/// Finds the memory for read-only commands. Creates nothing; returns `None` if nothing is stored
/// yet.
pub(super) fn find_memory(whose: &ScopeArgs) -> Result<Option<Arc<dyn Memory>>, CliError> {
    let location = match resolve_location(whose)? {
        Some(location) if whose.store.is_some() && !location.exists() => {
            return Err(CliError::Usage(format!("`--store`: no database at `{location}`")));
        }
        location => location.filter(StoreLocation::exists),
    };
    location.map(|location| location.open_memory()).transpose()
}

/// Like [`find_memory`], but returns a usage error if nothing is stored yet.
pub(super) fn open_existing(whose: &ScopeArgs) -> Result<Arc<dyn Memory>, CliError> {
    find_memory(whose)?.ok_or_else(|| CliError::Usage(NO_MEMORY_MESSAGE.to_owned()))
}

/// Returns the location of the memory: the flag, the server that stores the runs, or the engine
/// home, if one exists.
pub(super) fn resolve_location(whose: &ScopeArgs) -> Result<Option<StoreLocation>, CliError> {
    if let Some(named) = &whose.store {
        return StoreLocation::parse(named).map(Some);
    }
    let runs = load_settings(None)?.resolve_store()?.map(StoreLocation::parse).transpose()?;
    Ok(match runs {
        Some(server @ StoreLocation::Server(_)) => Some(server),
        _ => EngineHome::find(Path::new("."))?.map(|home| StoreLocation::File(home.memory_path())),
    })
}

/// Resolves the scope from flags, environment variables and the settings file, in this order.
pub(super) fn resolve_scope(whose: &ScopeArgs) -> Result<MemoryScope, CliError> {
    let settings = load_settings(None)?;
    // The login name is not a statement of whose memory is meant.
    let set = settings.user.value.filter(|_| settings.user.origin != "default");
    let missing = |flag: &str, variable: &str, name: &str| {
        CliError::Usage(format!(
            "`{flag}` is missing; you can also set `{variable}`, or `{name}` in countersign.toml"
        ))
    };
    let user = whose.user.clone().or(set);
    let user = user.ok_or_else(|| missing("--user", "COUNTERSIGN_USER", "user"))?;
    let agent = whose.agent.clone().or(settings.agent.value);
    let agent = agent.ok_or_else(|| missing("--agent", "COUNTERSIGN_AGENT", "agent"))?;
    build_scope(whose, &user, &agent, &whose.session, &whose.run)
}

/// Loads the settings of the folder, with the model that a flag names.
pub(super) fn load_settings(model: Option<&str>) -> Result<CliSettings, CliError> {
    let home = EngineHome::find(Path::new("."))?;
    let folder = home.as_ref().map_or(Path::new("."), EngineHome::workspace);
    CliSettings::load(folder, &StoreArgs::default(), model)
}

/// Connects to the embedder that a flag, the environment or the settings file names, in this order;
/// `None` if none is named.
pub(super) fn connect_embedder(
    flag: Option<&String>,
) -> Result<Option<Arc<dyn Embedder>>, CliError> {
    let mut settings = load_settings(None)?;
    if let Some(named) = flag {
        settings.embedder.value = Some(named.clone());
        "--embedder".clone_into(&mut settings.embedder.origin);
    }
    settings.connect_embedder()
}

/// Adds the vector of the request's text if an embedder is available and answers; otherwise the
/// search uses words only.
pub(super) async fn embed_request(
    memory: &dyn Memory,
    embedder: Option<&Arc<dyn Embedder>>,
    request: PacketRequest,
) -> PacketRequest {
    let embedder = embedder.map(|embedder| &**embedder);
    let (request, away) =
        countersign_runtime::memory_context::try_add_vector(memory, embedder, request).await;
    if let Some(error) = away {
        output::print_message(&format!("{BAD}warning{BAD:#}: ranking by words only: {error}"));
    }
    request
}

/// Builds a scope from these names; an error names the flag.
pub(super) fn build_scope(
    whose: &ScopeArgs,
    user: &str,
    agent: &str,
    session: &str,
    run: &str,
) -> Result<MemoryScope, CliError> {
    MemoryScope::new(&*whose.tenant, user, agent, session, run).map_err(|error| {
        let flag = error.part.trim_end_matches("_id");
        CliError::Usage(format!("`--{flag}`: {error}"))
    })
}

/// Returns the timestamp that counts as now.
pub(super) fn resolve_now(whose: &ScopeArgs) -> Result<Timestamp, CliError> {
    match &whose.now {
        Some(text) => parse_time("--now", text).map_err(CliError::Usage),
        None => Ok(SystemClock.now()),
    }
}

/// Formats a count with its noun: `1 line`, `2 lines`.
pub(super) fn pluralize(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
