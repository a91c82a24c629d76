//! The context of a command: settings, store, engine, driver, and the selected protocol.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_contract::source::Diagnostic;
use countersign_protocol::{Protocol, ProtocolBundle};
use countersign_run::InputKind;
use countersign_runtime::RuntimeBuilder;
use countersign_runtime::driver::{CachedModelResolver, Driver, ModelResolver, WorkerHeartbeat};
use countersign_runtime::engine::{Engine, EngineError, InputOutcome, ModelNameCheck};
use countersign_runtime::folder::{self, EngineHome};
use countersign_runtime::run_observer::{NoopRunObserver, RunObserver};
use countersign_runtime::trust::{ActionGuard, AllowList, TrustFile};
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_view::protocol_catalog::{SHIPPED_DATA, load_shipped_permissions};

use crate::args::{AllowArgs, StoreArgs};
use crate::exit::CliError;
use crate::logging::{self, Collectors};
use crate::settings::{CliSettings, build_allow_list, env_var, locate_trust_file};
use crate::state_file_writer::StateFileWriter;
use crate::store_location::StoreLocation;
use crate::telemetry::{self, TelemetryGuard};
use crate::{output, source_kinds};

/// The message for commands that need a run when none exists.
pub(crate) const NO_RUN_MESSAGE: &str = "there are no runs yet; start one with `countersign run`";

/// Everything that most commands need.
pub(crate) struct CliContext {
    pub(crate) settings: CliSettings,
    pub(crate) home: EngineHome,
    runtime: RuntimeBuilder,
    pub(crate) engine: Arc<Engine>,
    /// The user's trust file; `None` if the environment names no settings folder.
    pub(crate) trust: Option<TrustFile>,
    /// Programs, hosts and sources that the command line allows.
    allow: AllowList,
    location: StoreLocation,
    /// Declared last, so that telemetry about the other fields is still exported when they are
    /// dropped.
    _telemetry: Option<TelemetryGuard>,
}

impl CliContext {
    /// Opens the context of the current folder and creates the engine home if none exists.
    pub(crate) fn open(
        site: &StoreArgs,
        model: Option<&str>,
        watch: Arc<dyn RunObserver>,
    ) -> Result<Self, CliError> {
        Self::open_in(Path::new("."), site, model, watch)
    }

    /// Submits an input on behalf of the user who runs the command.
    pub(crate) async fn submit_input(
        &self,
        run: &str,
        what: InputKind,
        key: Option<String>,
    ) -> Result<InputOutcome, EngineError> {
        self.engine.submit_input(run, what.from_sender(self.settings.sender()), key).await
    }

    /// Like [`open`](Self::open), for commands that can turn memory off.
    pub(crate) fn open_with_memory(
        site: &StoreArgs,
        model: Option<&str>,
        watch: Arc<dyn RunObserver>,
        remembers: bool,
    ) -> Result<Self, CliError> {
        let home = EngineHome::find_or_create(Path::new("."))?;
        let settings = CliSettings::load(home.workspace(), site, model)?;
        let settings = if remembers { settings } else { settings.without_memory() };
        Self::build(home, settings, watch, true)
    }

    /// Like [`open_with_memory`](Self::open_with_memory), for runs that other processes work on: of
    /// a model, only the name is checked here.
    pub(crate) fn open_for_workers(
        site: &StoreArgs,
        model: Option<&str>,
        watch: Arc<dyn RunObserver>,
        remembers: bool,
    ) -> Result<Self, CliError> {
        let home = EngineHome::find_or_create(Path::new("."))?;
        let settings = CliSettings::load(home.workspace(), site, model)?;
        let settings = if remembers { settings } else { settings.without_memory() };
        Self::build_checking(home, settings, watch, Some(Arc::new(ModelNameCheck)))
    }

    /// Opens the context of a folder and creates the engine home if none exists.
    pub(crate) fn open_in(
        folder: &Path,
        site: &StoreArgs,
        model: Option<&str>,
        watch: Arc<dyn RunObserver>,
    ) -> Result<Self, CliError> {
        let home = EngineHome::find_or_create(folder)?;
        let settings = CliSettings::load(home.workspace(), site, model)?;
        Self::build(home, settings, watch, true)
    }

    /// Finds the context of the current folder for read-only commands. Creates nothing; returns
    /// `None` if nothing is stored yet.
    pub(crate) fn find(site: &StoreArgs) -> Result<Option<Self>, CliError> {
        let here = Path::new(".");
        let home = EngineHome::find(here)?;
        let folder = home.as_ref().map_or(here, EngineHome::workspace);
        let settings = CliSettings::load(folder, site, None)?;
        let named = settings.resolve_store()?.map(StoreLocation::parse).transpose()?;
        match (home, named) {
            (_, Some(named)) if !named.exists() => {
                Err(CliError::Usage(format!("no database at `{named}`")))
            }
            (Some(home), named) if named.is_some() || home.database_path().is_file() => {
                let settings = CliSettings::load(home.workspace(), site, None)?;
                // A read-only command needs no memory and does not create it.
                Self::build(home, settings, Arc::new(NoopRunObserver), false).map(Some)
            }
            (None, Some(_)) => Self::open(site, None, Arc::new(NoopRunObserver)).map(Some),
            _ => Ok(None),
        }
    }

    /// Like [`find`](Self::find), but returns a usage error if nothing is stored yet.
    pub(crate) fn open_existing(site: &StoreArgs) -> Result<Self, CliError> {
        Self::find(site)?.ok_or_else(|| CliError::Usage(NO_RUN_MESSAGE.to_owned()))
    }

    fn build(
        home: EngineHome,
        settings: CliSettings,
        watch: Arc<dyn RunObserver>,
        works: bool,
    ) -> Result<Self, CliError> {
        let models: Option<Arc<dyn ModelResolver>> =
            if works { Some(Arc::new(build_model_resolver(&home)?)) } else { None };
        Self::build_checking(home, settings, watch, models)
    }

    /// Builds a context that checks the models of new runs with `models`; `None` for a command that
    /// only reads.
    fn build_checking(
        home: EngineHome,
        settings: CliSettings,
        watch: Arc<dyn RunObserver>,
        models: Option<Arc<dyn ModelResolver>>,
    ) -> Result<Self, CliError> {
        let works = models.is_some();
        settings.permit_server(&settings.telemetry)?;
        let telemetry = if works {
            telemetry::start_telemetry(settings.telemetry.value.as_deref())?
        } else {
            logging::install(Collectors::default());
            None
        };
        let place = match settings.resolve_store()? {
            Some(named) => StoreLocation::parse(named)?,
            None => StoreLocation::File(home.database_path()),
        };
        let protocol = select_protocol_folder(&settings, &home).ok();
        let watch: Arc<dyn RunObserver> = match &protocol {
            // State files belong next to the project's own protocol, not next to one that was only
            // named.
            Some(protocol) if protocol.ends_with(".opencode/protocol") => {
                Arc::new(StateFileWriter::new(watch, protocol.clone()))
            }
            Some(_) | None => watch,
        };
        let runtime = RuntimeBuilder::from_home(place.open_store()?, home.clone())
            .with_observer(watch)
            .with_contracts(Arc::new(load_shipped_contracts()))
            .with_protocol_folder(protocol)
            .with_channels(Arc::new(settings.build_channel_set()));
        let runtime = match models {
            Some(models) => runtime.with_model_check(models),
            None => runtime,
        };
        let remembers = works && settings.is_memory_enabled();
        let runtime = match (settings.is_memory_enabled(), works) {
            (true, true) => attach_memory(runtime, &home, &place),
            (true, false) => runtime,
            (false, _) => runtime.without_memory(),
        };
        let embedder = if remembers { settings.connect_embedder()? } else { None };
        let runtime = match embedder {
            Some(embedder) => runtime.with_embedder(embedder),
            None => runtime,
        };
        let (engine, allow) = (runtime.build_engine()?, AllowList::default());
        let trust = locate_trust_file();
        Ok(Self {
            settings,
            home,
            runtime,
            engine,
            trust,
            allow,
            location: place,
            _telemetry: telemetry,
        })
    }

    /// Returns where the runs are stored.
    pub(crate) fn location(&self) -> &StoreLocation {
        &self.location
    }

    /// Returns the folder of the selected protocol.
    pub(crate) fn find_protocol_folder(&self) -> Result<PathBuf, CliError> {
        select_protocol_folder(&self.settings, &self.home)
    }

    /// Also allows every run to use what the command line allows.
    pub(crate) fn with_allow_list(mut self, flags: &AllowArgs) -> Result<Self, CliError> {
        let AllowArgs { allow_program, allow_host, allow_source } = flags;
        let list = build_allow_list(allow_program, allow_host, allow_source);
        self.allow = list.map_err(|error| CliError::Usage(error.to_string()))?;
        Ok(self)
    }

    /// Builds the guard that decides what protocols may do here, from the permissions of shipped
    /// protocols, the user's trust and the operator's allow lists.
    pub(crate) fn build_action_guard(&self) -> ActionGuard {
        let folder = self.home.workspace();
        let guard = ActionGuard::new(folder.to_owned(), load_shipped_permissions)
            .with_allow_list(self.allow.clone())
            .with_allow_list(self.settings.allow_named_model());
        let Some(file) = &self.trust else { return guard };
        let guard = if self.settings.is_file_trusted() {
            guard.with_allow_list(self.settings.allow.clone())
        } else {
            output::print_message(
                "ignoring what countersign.toml allows, because you have not trusted it; review it with `countersign trust`",
            );
            guard
        };
        guard.with_trust_file(file.clone())
    }

    /// Builds a driver for the duration of one command.
    pub(crate) fn build_driver(&self) -> Result<Driver, CliError> {
        let name = format!(
            "cli-{}-{}",
            std::process::id(),
            countersign_runtime::engine::generate_run_name()
        );
        Ok(self.build_named_driver(&name)?.0)
    }

    /// Builds a driver with a worker name, and the heartbeat by which other processes on this
    /// machine recognize it.
    pub(crate) fn build_named_driver(
        &self,
        worker: &str,
    ) -> Result<(Driver, Option<Arc<WorkerHeartbeat>>), CliError> {
        let models = build_model_resolver(&self.home)?;
        // Without a heartbeat, other processes cannot tell a dead process from a slow one and wait
        // until its lease expires.
        let heartbeat = WorkerHeartbeat::announce(&self.home.folder().join("workers"), worker);
        let heartbeat = heartbeat.ok().map(Arc::new);
        let runtime = self
            .runtime
            .clone()
            .with_models(Arc::new(models))
            .with_guard(self.build_action_guard())
            .with_sources(Arc::new(source_kinds::build_source_kinds()))
            .with_document_reader(source_kinds::get_document_reader())
            .with_data_folder(self.home.folder().join(SHIPPED_DATA))
            .with_worker(worker)
            .with_heartbeat(heartbeat.clone());
        Ok((runtime.build_driver(Arc::clone(&self.engine))?, heartbeat))
    }

    /// Resolves a run by its full id or a prefix of it; without a name, selects the newest run.
    pub(crate) async fn resolve_run(&self, named: Option<&str>) -> Result<String, CliError> {
        let store = self.engine.store();
        let Some(named) = named else {
            let newest = countersign_store::RunFilter::newest(self.engine.tenant().clone(), 1);
            let runs = store.list_runs(&newest).await?;
            let newest = runs.into_iter().next().map(|head| head.run.id);
            return newest.ok_or_else(|| CliError::Usage(NO_RUN_MESSAGE.to_owned()));
        };
        let exact = self.engine.run_id(named);
        if store.load_head(&exact).await?.is_some() {
            return Ok(exact.id);
        }
        let found = store.resolve_run_id(self.engine.tenant(), named).await?;
        match &found[..] {
            [one] => Ok(one.id.clone()),
            [] => {
                Err(CliError::Usage(format!("no run `{named}`; list runs with `countersign list`")))
            }
            several => {
                let ids: Vec<&str> = several.iter().map(|run| run.id.as_str()).collect();
                Err(CliError::Usage(format!("`{named}` matches several runs: {}", ids.join(", "))))
            }
        }
    }
}

/// Builds the resolver of models from the keys and addresses in the environment.
fn build_model_resolver(home: &EngineHome) -> Result<CachedModelResolver, CliError> {
    let settings = countersign_models::ModelSettings::from_env(&env_var)
        .map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(CachedModelResolver::new(settings, home.workspace().to_owned()))
}

/// Adds memory to a runtime: in the same database if the runs are on a server, otherwise in a local
/// file. If memory cannot be opened, prints a message and continues without it.
fn attach_memory(
    runtime: RuntimeBuilder,
    home: &EngineHome,
    runs: &StoreLocation,
) -> RuntimeBuilder {
    let place = match runs {
        StoreLocation::Server(_) => runs.clone(),
        StoreLocation::File(_) => StoreLocation::File(home.memory_path()),
    };
    match place.open_memory() {
        Ok(memory) => runtime.with_memory(memory),
        Err(error) => {
            output::print_message(&format!(
                "continuing without memory: cannot open `{place}`: {error}"
            ));
            runtime
        }
    }
}

/// Resolves a named protocol folder: the folder itself, or the protocol folder that belongs to it.
pub(crate) fn resolve_protocol_folder(folder: &Path) -> Result<PathBuf, CliError> {
    folder::resolve_protocol_folder(folder).ok_or_else(|| protocol_not_found(folder))
}

/// Finds the protocol folder that belongs to a folder, which is never that folder itself.
pub(crate) fn find_nearest_protocol(folder: &Path) -> Result<PathBuf, CliError> {
    folder::find_protocol_folder(folder).ok_or_else(|| protocol_not_found(folder))
}

fn protocol_not_found(folder: &Path) -> CliError {
    CliError::Usage(format!(
        "no protocol at `{}` or in a folder above it; create one with `countersign init`",
        folder.display()
    ))
}

/// Selects the protocol folder that the settings name, or the one that belongs to the workspace.
fn select_protocol_folder(settings: &CliSettings, home: &EngineHome) -> Result<PathBuf, CliError> {
    match &settings.protocol.value {
        Some(named) => resolve_protocol_folder(Path::new(named)),
        None => find_nearest_protocol(home.workspace()),
    }
}

/// Reads and loads a protocol folder; returns the protocol and its warnings.
pub(crate) fn load_protocol_folder(
    folder: &Path,
) -> Result<(Arc<Protocol>, Vec<Diagnostic>), CliError> {
    load_bundle(folder::read_protocol_folder(folder)?)
}

/// Loads a protocol from a bundle of files; returns the protocol and its warnings.
pub(crate) fn load_bundle(
    bundle: ProtocolBundle,
) -> Result<(Arc<Protocol>, Vec<Diagnostic>), CliError> {
    folder::load_protocol(bundle, &load_shipped_contracts()).map_err(CliError::InvalidFiles)
}

/// Runs a future to completion on a new runtime.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|source| CliError::Unreadable {
            what: "the clock and sockets of the system".to_owned(),
            source,
        })?;
    runtime.block_on(work)
}
