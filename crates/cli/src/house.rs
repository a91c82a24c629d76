//! The house of a command: settings, store, engine, driver, and the protocol that is meant.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_contracts::registry;
use countersign_core::protocol::{Bundle, Protocol};
use countersign_core::spec::Diagnostic;
use countersign_runtime::clock::SystemClock;
use countersign_runtime::driver::{Connected, Driver, Hands, Presence};
use countersign_runtime::effect::Journal;
use countersign_runtime::engine::{Engine, Opened};
use countersign_runtime::folder::{self, Home};
use countersign_runtime::trust::{ActionGuard, AllowList, TrustFile};
use countersign_runtime::watch::{Unwatched, Watch};
use countersign_runtime::workspace::Workspace;
use countersign_server::catalog::{SHIPPED_DATA, shipped_permissions};
use countersign_store::TenantId;

use crate::args::{AllowArgs, Site};
use crate::exit::Error;
use crate::place::Place;
use crate::projecting::Projecting;
use crate::settings::{Settings, allow_list, env, trust_file};
use crate::telemetry::{self, Telemetry};
use crate::{output, sources};

/// What is said where there is nothing to look at.
pub(crate) const NO_RUN: &str = "there is no run yet; `countersign run` starts one";

/// What most commands need.
pub(crate) struct House {
    pub(crate) settings: Settings,
    pub(crate) home: Home,
    pub(crate) engine: Arc<Engine>,
    /// Where a person's trust is kept; `None` where the environment names no place.
    pub(crate) trust: Option<TrustFile>,
    /// What the command line allows.
    allow: AllowList,
    place: Place,
    /// Dropped last: what is told of the rest goes out with it.
    _telemetry: Option<Telemetry>,
}

impl House {
    /// Opens the house that belongs to the current folder; where there is none, one is made.
    pub(crate) fn open(
        site: &Site,
        model: Option<&str>,
        watch: Arc<dyn Watch>,
    ) -> Result<Self, Error> {
        Self::open_in(Path::new("."), site, model, watch)
    }

    /// The same, for a command that may turn memory off.
    pub(crate) fn open_remembering(
        site: &Site,
        model: Option<&str>,
        watch: Arc<dyn Watch>,
        remembers: bool,
    ) -> Result<Self, Error> {
        let home = Home::find_or_create(Path::new("."))?;
        let settings = Settings::read(home.workspace(), site, model)?;
        let settings = if remembers { settings } else { settings.without_memory() };
        Self::furnished(home, settings, watch, true)
    }

    /// Opens the house that belongs to a folder.
    pub(crate) fn open_in(
        folder: &Path,
        site: &Site,
        model: Option<&str>,
        watch: Arc<dyn Watch>,
    ) -> Result<Self, Error> {
        let home = Home::find_or_create(folder)?;
        let settings = Settings::read(home.workspace(), site, model)?;
        Self::furnished(home, settings, watch, true)
    }

    /// The house that belongs to the current folder, to look at. Nothing is made: `None` where
    /// nothing was kept yet.
    pub(crate) fn find(site: &Site) -> Result<Option<Self>, Error> {
        let here = Path::new(".");
        let home = Home::find(here)?;
        let folder = home.as_ref().map_or(here, Home::workspace);
        let settings = Settings::read(folder, site, None)?;
        let named = settings.store()?.map(Place::named).transpose()?;
        match (home, named) {
            (_, Some(named)) if !named.is_there() => {
                Err(Error::Usage(format!("no database at `{named}`")))
            }
            (Some(home), named) if named.is_some() || home.database().is_file() => {
                let settings = Settings::read(home.workspace(), site, None)?;
                // Whoever only looks needs no memory, and makes none.
                Self::furnished(home, settings, Arc::new(Unwatched), false).map(Some)
            }
            (None, Some(_)) => Self::open(site, None, Arc::new(Unwatched)).map(Some),
            _ => Ok(None),
        }
    }

    /// The same where there must be a run to look at.
    pub(crate) fn look(site: &Site) -> Result<Self, Error> {
        Self::find(site)?.ok_or_else(|| Error::Usage(NO_RUN.to_owned()))
    }

    fn furnished(
        home: Home,
        settings: Settings,
        watch: Arc<dyn Watch>,
        works: bool,
    ) -> Result<Self, Error> {
        settings.permit_server(&settings.telemetry)?;
        let telemetry =
            if works { telemetry::start(settings.telemetry.value.as_deref())? } else { None };
        let place = match settings.store()? {
            Some(named) => Place::named(named)?,
            None => Place::File(home.database()),
        };
        let protocol = protocol_of(&settings, &home).ok();
        let watch: Arc<dyn Watch> = match &protocol {
            // Beside a protocol that was only named, files of ours would be strangers.
            Some(protocol) if protocol.ends_with(".opencode/protocol") => {
                Arc::new(Projecting::new(watch, protocol.clone()))
            }
            Some(_) | None => watch,
        };
        let engine = Engine::open(Opened {
            store: place.open()?,
            clock: Arc::new(SystemClock),
            watch,
            shipped: Arc::new(registry()),
            workspace: Some(work_files(&home, protocol.as_deref())?),
            tenant: TenantId::default(),
        });
        let remembers = works && settings.remembers();
        let engine = match (settings.remembers(), works) {
            (true, true) => with_memory(engine, &home, &place),
            (true, false) => engine,
            (false, _) => engine.without_memory(),
        };
        let embedder = if remembers { settings.embedder()? } else { None };
        let engine = match embedder {
            Some(embedder) => engine.with_embedder(embedder),
            None => engine,
        };
        let (engine, allow) = (Arc::new(engine), AllowList::default());
        let trust = trust_file();
        Ok(Self { settings, home, engine, trust, allow, place, _telemetry: telemetry })
    }

    /// Where its runs are kept.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// The folder of the protocol that is meant.
    pub(crate) fn protocol_folder(&self) -> Result<PathBuf, Error> {
        protocol_of(&self.settings, &self.home)
    }

    /// The same house, in which any run may use what the command line allows.
    pub(crate) fn with_allowed(mut self, flags: &AllowArgs) -> Result<Self, Error> {
        let AllowArgs { allow_program, allow_host, allow_source } = flags;
        let list = allow_list(allow_program, allow_host, allow_source);
        self.allow = list.map_err(|error| Error::Usage(error.to_string()))?;
        Ok(self)
    }

    /// What protocols may do here: what ships, what a person trusts, what the operator allows.
    pub(crate) fn guard(&self) -> ActionGuard {
        let folder = self.home.workspace();
        let guard = ActionGuard::new(folder.to_owned(), shipped_permissions)
            .with_allow_list(self.allow.clone())
            .with_allow_list(self.settings.own_model());
        let Some(file) = &self.trust else { return guard };
        let guard = if self.settings.is_file_trusted() {
            guard.with_allow_list(self.settings.allow.clone())
        } else {
            output::talk(
                "what countersign.toml allows is not trusted and not used; `countersign trust` shows it and asks",
            );
            guard
        };
        guard.with_trust_file(file.clone())
    }

    /// A driver for the runs of this house, as long as a command lasts.
    pub(crate) fn driver(&self) -> Result<Driver, Error> {
        let name =
            format!("cli-{}-{}", std::process::id(), countersign_runtime::engine::fresh_name());
        Ok(self.driver_called(&name)?.0)
    }

    /// A driver under a name, and the sign of life by which others on this machine know it.
    pub(crate) fn driver_called(
        &self,
        worker: &str,
    ) -> Result<(Driver, Option<Arc<Presence>>), Error> {
        let workspace = work_files(&self.home, self.protocol_folder().ok().as_deref())?;
        let journal = Journal::open(&self.home.effects())?;
        let hands = Hands::new(workspace, self.guard(), journal, self.home.workspace())
            .with_sources(Arc::new(sources::kinds()))
            .with_data(self.home.folder().join(SHIPPED_DATA));
        let settings = countersign_models::Settings::from_env(&env)
            .map_err(|error| Error::Usage(error.to_string()))?;
        let models = Connected::new(settings, self.home.workspace().to_owned());
        let workers = self.home.folder().join("workers");
        let driver =
            Driver::new(Arc::clone(&self.engine), Arc::new(models), hands, worker.to_owned());
        // Others cannot tell a dead process from a slow one without it, and wait for its lease.
        Ok(match Presence::announce(&workers, worker) {
            Ok(presence) => {
                let presence = Arc::new(presence);
                (driver.present(Arc::clone(&presence)), Some(presence))
            }
            Err(_) => (driver, None),
        })
    }

    /// The run that is meant: the whole id, its beginning, or, where none is named, the newest.
    pub(crate) async fn run(&self, named: Option<&str>) -> Result<String, Error> {
        let store = self.engine.store();
        let Some(named) = named else {
            let newest = countersign_store::RunFilter::newest(self.engine.tenant().clone(), 1);
            let runs = store.runs(&newest).await?;
            let newest = runs.into_iter().next().map(|head| head.run.id);
            return newest.ok_or_else(|| Error::Usage(NO_RUN.to_owned()));
        };
        let exact = self.engine.run_id(named);
        if store.head(&exact).await?.is_some() {
            return Ok(exact.id);
        }
        let found = store.resolve(self.engine.tenant(), named).await?;
        match &found[..] {
            [one] => Ok(one.id.clone()),
            [] => Err(Error::Usage(format!("no run `{named}`; `countersign list` shows them"))),
            several => {
                let ids: Vec<&str> = several.iter().map(|run| run.id.as_str()).collect();
                Err(Error::Usage(format!("`{named}` begins several ids: {}", ids.join(", "))))
            }
        }
    }
}

/// An engine with the memory of a house: beside the runs where those are on a server, else in a file here. One that
/// cannot be opened is told and holds nothing up.
fn with_memory(engine: Engine, home: &Home, runs: &Place) -> Engine {
    let place = match runs {
        Place::Server(_) => runs.clone(),
        Place::File(_) => Place::File(home.memory()),
    };
    match place.memory() {
        Ok(memory) => engine.with_memory(memory),
        Err(error) => {
            output::talk(&format!("no memory: `{place}` cannot be opened: {error}"));
            engine
        }
    }
}

/// The protocol folder that somebody names: this one, or the one that belongs to it.
pub(crate) fn protocol_at(folder: &Path) -> Result<PathBuf, Error> {
    folder::find_named(folder).ok_or_else(|| no_protocol(folder))
}

/// The protocol folder that belongs to a folder, which is never that folder itself.
pub(crate) fn protocol_near(folder: &Path) -> Result<PathBuf, Error> {
    folder::find(folder).ok_or_else(|| no_protocol(folder))
}

fn no_protocol(folder: &Path) -> Error {
    Error::Usage(format!(
        "no protocol at `{}`, nor above it; `countersign init` puts one there",
        folder.display()
    ))
}

/// The protocol folder that the settings name, or that belongs to the folder of work.
fn protocol_of(settings: &Settings, home: &Home) -> Result<PathBuf, Error> {
    match &settings.protocol.value {
        Some(named) => protocol_at(Path::new(named)),
        None => protocol_near(home.workspace()),
    }
}

/// The folder of work without the protocol, wherever that lies.
fn work_files(home: &Home, protocol: Option<&Path>) -> Result<Workspace, Error> {
    let workspace = Workspace::open(home.workspace())?;
    Ok(match protocol {
        Some(protocol) => folder::hide_protocol(workspace, protocol)?,
        None => workspace,
    })
}

/// Reads and loads a protocol folder: the protocol, and what is to be remarked about it.
pub(crate) fn protocol(folder: &Path) -> Result<(Arc<Protocol>, Vec<Diagnostic>), Error> {
    load_bundle(folder::read(folder)?)
}

/// Loads the files of a protocol.
pub(crate) fn load_bundle(bundle: Bundle) -> Result<(Arc<Protocol>, Vec<Diagnostic>), Error> {
    folder::load_protocol(bundle, &registry()).map_err(Error::Author)
}

/// Waits for what takes time.
pub(crate) fn wait<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|source| Error::Unreadable {
            what: "the clock and sockets of the system".to_owned(),
            source,
        })?;
    runtime.block_on(work)
}
