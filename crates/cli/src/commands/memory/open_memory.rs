//! Where memory is kept, whose is meant, and which moment is now. Names are never guessed: one that is missing
//! is an error, not "all".

use std::path::Path;
use std::sync::Arc;

use countersign_core::run::Timestamp;
use countersign_memory::store::Memory;
use countersign_memory::{MemoryScope, PacketRequest};
use countersign_models::Embedder;
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::folder::EngineHome;
use countersign_runtime::memory_context::parse_time;

use crate::args::{ScopeArgs, StoreArgs};
use crate::exit::CliError;
use crate::output;
use crate::render::BAD;
use crate::settings::CliSettings;
use crate::store_location::StoreLocation;

/// What is said where there is nothing to look at.
pub(super) const NO_MEMORY_MESSAGE: &str =
    "nothing is remembered yet; `countersign memory remember` begins";

/// Opens the memory, and makes it where there is none.
pub(super) fn open_or_create(whose: &ScopeArgs) -> Result<Arc<dyn Memory>, CliError> {
    match resolve_location(whose)? {
        Some(place) => place.open_memory(),
        None => StoreLocation::File(EngineHome::find_or_create(Path::new("."))?.memory_path())
            .open_memory(),
    }
}

/// The memory to look at. Nothing is made: `Empty` where nothing was kept yet.
pub(super) fn find_memory(whose: &ScopeArgs) -> Result<Option<Arc<dyn Memory>>, CliError> {
    let place = match resolve_location(whose)? {
        Some(place) if whose.store.is_some() && !place.exists() => {
            return Err(CliError::Usage(format!("`--store`: no database at `{place}`")));
        }
        place => place.filter(StoreLocation::exists),
    };
    place.map(|place| place.open_memory()).transpose()
}

/// The same where there must be something to look at.
pub(super) fn open_existing(whose: &ScopeArgs) -> Result<Arc<dyn Memory>, CliError> {
    find_memory(whose)?.ok_or_else(|| CliError::Usage(NO_MEMORY_MESSAGE.to_owned()))
}

/// Where the memory is: where the flag says, beside the runs where those are on a server, or in the folder of the
/// house, where there is one.
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

/// The scope that is meant: flag over environment over file.
pub(super) fn resolve_scope(whose: &ScopeArgs) -> Result<MemoryScope, CliError> {
    let settings = load_settings(None)?;
    // Whoever is logged in is not thereby the one whose memory it is.
    let set = settings.user.value.filter(|_| settings.user.origin != "default");
    let missing = |flag: &str, variable: &str, name: &str| {
        CliError::Usage(format!(
            "whose memory? `{flag}` is missing; `{variable}` and `{name}` in countersign.toml say it too"
        ))
    };
    let user = whose.user.clone().or(set);
    let user = user.ok_or_else(|| missing("--user", "COUNTERSIGN_USER", "user"))?;
    let agent = whose.agent.clone().or(settings.agent.value);
    let agent = agent.ok_or_else(|| missing("--agent", "COUNTERSIGN_AGENT", "agent"))?;
    build_scope(whose, &user, &agent, &whose.session, &whose.run)
}

/// The settings of the folder, with the model that a flag names.
pub(super) fn load_settings(model: Option<&str>) -> Result<CliSettings, CliError> {
    let home = EngineHome::find(Path::new("."))?;
    let folder = home.as_ref().map_or(Path::new("."), EngineHome::workspace);
    CliSettings::load(folder, &StoreArgs::default(), model)
}

/// The embedder that is meant: flag over environment over file; none where nobody names one.
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

/// A request with the vector of its words, where there is an embedder that answers; else by words alone.
pub(super) async fn embed_request(
    memory: &dyn Memory,
    embedder: Option<&Arc<dyn Embedder>>,
    request: PacketRequest,
) -> PacketRequest {
    let embedder = embedder.map(|embedder| &**embedder);
    let (request, away) =
        countersign_runtime::memory_context::try_add_vector(memory, embedder, request).await;
    if let Some(error) = away {
        output::print_message(&format!("{BAD}warning{BAD:#}: by words alone: {error}"));
    }
    request
}

/// The scope of these names; a fault names the flag.
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

/// The moment that counts as now.
pub(super) fn resolve_now(whose: &ScopeArgs) -> Result<Timestamp, CliError> {
    match &whose.at {
        Some(text) => parse_time("--at", text).map_err(CliError::Usage),
        None => Ok(SystemClock.now()),
    }
}

/// So many of something: `1 line`, `2 lines`.
pub(super) fn pluralize(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
