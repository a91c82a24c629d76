//! Where memory is kept, whose is meant, and which moment is now. Names are never guessed: one that is missing
//! is an error, not "all".

use std::path::Path;
use std::sync::Arc;

use countersign_core::run::Time;
use countersign_memory::store::Memory;
use countersign_memory::{Request, Scope};
use countersign_models::Embedder;
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::folder::Home;
use countersign_runtime::remember::moment;

use crate::args::{Site, Whose};
use crate::exit::Error;
use crate::output;
use crate::place::Place;
use crate::settings::Settings;
use crate::show::BAD;

/// What is said where there is nothing to look at.
pub(super) const NOTHING: &str = "nothing is remembered yet; `countersign memory remember` begins";

/// Opens the memory, and makes it where there is none.
pub(super) fn open(whose: &Whose) -> Result<Arc<dyn Memory>, Error> {
    match place(whose)? {
        Some(place) => place.memory(),
        None => Place::File(Home::find_or_create(Path::new("."))?.memory()).memory(),
    }
}

/// The memory to look at. Nothing is made: `None` where nothing was kept yet.
pub(super) fn find(whose: &Whose) -> Result<Option<Arc<dyn Memory>>, Error> {
    let place = match place(whose)? {
        Some(place) if whose.store.is_some() && !place.is_there() => {
            return Err(Error::Usage(format!("`--store`: no database at `{place}`")));
        }
        place => place.filter(Place::is_there),
    };
    place.map(|place| place.memory()).transpose()
}

/// The same where there must be something to look at.
pub(super) fn look(whose: &Whose) -> Result<Arc<dyn Memory>, Error> {
    find(whose)?.ok_or_else(|| Error::Usage(NOTHING.to_owned()))
}

/// Where the memory is: where the flag says, beside the runs where those are on a server, or in the folder of the
/// house, where there is one.
pub(super) fn place(whose: &Whose) -> Result<Option<Place>, Error> {
    if let Some(named) = &whose.store {
        return Place::named(named).map(Some);
    }
    let runs = settings(None)?.store()?.map(Place::named).transpose()?;
    Ok(match runs {
        Some(server @ Place::Server(_)) => Some(server),
        _ => Home::find(Path::new("."))?.map(|home| Place::File(home.memory())),
    })
}

/// The scope that is meant: flag over environment over file.
pub(super) fn scope(whose: &Whose) -> Result<Scope, Error> {
    let settings = settings(None)?;
    // Whoever is logged in is not thereby the one whose memory it is.
    let set = settings.user.value.filter(|_| settings.user.origin != "default");
    let missing = |flag: &str, variable: &str, name: &str| {
        Error::Usage(format!(
            "whose memory? `{flag}` is missing; `{variable}` and `{name}` in countersign.toml say it too"
        ))
    };
    let user = whose.user.clone().or(set);
    let user = user.ok_or_else(|| missing("--user", "COUNTERSIGN_USER", "user"))?;
    let agent = whose.agent.clone().or(settings.agent.value);
    let agent = agent.ok_or_else(|| missing("--agent", "COUNTERSIGN_AGENT", "agent"))?;
    within(whose, &user, &agent, &whose.session, &whose.run)
}

/// The settings of the folder, with the model that a flag names.
pub(super) fn settings(model: Option<&str>) -> Result<Settings, Error> {
    let home = Home::find(Path::new("."))?;
    let folder = home.as_ref().map_or(Path::new("."), Home::workspace);
    Settings::read(folder, &Site::default(), model)
}

/// The embedder that is meant: flag over environment over file; none where nobody names one.
pub(super) fn embedder(flag: Option<&String>) -> Result<Option<Arc<dyn Embedder>>, Error> {
    let mut settings = settings(None)?;
    if let Some(named) = flag {
        settings.embedder.value = Some(named.clone());
        "--embedder".clone_into(&mut settings.embedder.origin);
    }
    settings.embedder()
}

/// A request with the vector of its words, where there is an embedder that answers; else by words alone.
pub(super) async fn nearer(
    memory: &dyn Memory,
    embedder: Option<&Arc<dyn Embedder>>,
    request: Request,
) -> Request {
    let embedder = embedder.map(|embedder| &**embedder);
    let (request, away) = countersign_runtime::remember::nearer(memory, embedder, request).await;
    if let Some(error) = away {
        output::talk(&format!("{BAD}warning{BAD:#}: by words alone: {error}"));
    }
    request
}

/// The scope of these names; a fault names the flag.
pub(super) fn within(
    whose: &Whose,
    user: &str,
    agent: &str,
    session: &str,
    run: &str,
) -> Result<Scope, Error> {
    Scope::new(&*whose.tenant, user, agent, session, run).map_err(|error| {
        let flag = error.part.trim_end_matches("_id");
        Error::Usage(format!("`--{flag}`: {error}"))
    })
}

/// The moment that counts as now.
pub(super) fn now(whose: &Whose) -> Result<Time, Error> {
    match &whose.at {
        Some(text) => moment("--at", text).map_err(Error::Usage),
        None => Ok(SystemClock.now()),
    }
}

/// So many of something: `1 line`, `2 lines`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
