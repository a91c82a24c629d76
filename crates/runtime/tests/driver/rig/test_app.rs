//! An app for tests: a folder of work, a store, a protocol. Each engine in it is a process of its own.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use countersign_contract::contract::ContractRegistry;
use countersign_memory::store::Memory;
use countersign_models::ModelSettings;
use countersign_protocol::{LoadedProtocol, Protocol, ProtocolBundle, load_protocol};
use countersign_run::{InputKind, RunEvent, RunStart, RunState, fold_entry};
use countersign_runtime::channel::ChannelSet;
use countersign_runtime::clock::Clock;
use countersign_runtime::driver::{CachedModelResolver, Driver, EffectExecutor, ModelResolver};
use countersign_runtime::effect::EffectJournal;
use countersign_runtime::engine::{Engine, EngineConfig, EngineError, InputOutcome};
use countersign_runtime::integrity::verify_stored_run;
use countersign_runtime::run_observer::{NoopRunObserver, RunObserver};
use countersign_runtime::trust::ActionGuard;
use countersign_runtime::workspace::Workspace;
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_store::{InMemoryStore, SqliteStore, Store, TenantId};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Manual;

static SHIPPED: LazyLock<Arc<ContractRegistry>> =
    LazyLock::new(|| Arc::new(load_shipped_contracts()));

/// Which store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
}

/// The app of one test.
pub(crate) struct TestApp {
    pub(crate) folder: TempDir,
    pub(crate) clock: Arc<Manual>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) protocol: Arc<Protocol>,
}

/// A protocol from a text with `--- path` lines; files under `work/` lie in the folder of work.
pub(crate) fn protocol(text: &str) -> (Arc<Protocol>, Vec<(String, String)>) {
    let (mut bundle, mut work) = (ProtocolBundle::default(), Vec::new());
    for file in text.split("--- ").skip(1) {
        let (path, content) = file.split_once('\n').unwrap_or((file, ""));
        match path.strip_prefix("work/") {
            Some(path) => work.push((path.to_owned(), content.to_owned())),
            None => drop(bundle.files.insert(path.to_owned(), content.to_owned())),
        }
    }
    match load_protocol(bundle, &SHIPPED) {
        Ok(LoadedProtocol { protocol, .. }) => (Arc::new(protocol), work),
        Err(faults) => panic!("{faults:#?}"),
    }
}

impl TestApp {
    pub(crate) fn new(kind: Kind, text: &str) -> Self {
        let (protocol, files) = protocol(text);
        Self::loaded(kind, &protocol, &files)
    }

    /// An app with a protocol that was loaded before, and the files of its folder of work.
    pub(crate) fn loaded(kind: Kind, protocol: &Arc<Protocol>, files: &[(String, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = match kind {
            Kind::Memory => Arc::new(InMemoryStore::new()),
            Kind::Sqlite => Arc::new(SqliteStore::open(folder.path().join("runs.db")).unwrap()),
        };
        fs::create_dir(folder.path().join("work")).unwrap();
        for (path, content) in files {
            let path = folder.path().join("work").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let protocol = Arc::clone(protocol);
        Self { folder, clock: Arc::new(Manual::new()), store, protocol }
    }

    /// The folder of work.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// A file of the folder of work; empty where it is not there.
    pub(crate) fn file(&self, path: &str) -> String {
        fs::read_to_string(self.work().join(path)).unwrap_or_default()
    }

    /// How many notes the journal of effects has.
    pub(crate) fn notes(&self) -> usize {
        fs::read_dir(self.folder.path().join("effects")).map_or(0, Iterator::count)
    }

    /// An engine as a new process has it.
    pub(crate) fn engine(&self) -> Arc<Engine> {
        self.engine_over(Arc::clone(&self.store))
    }

    pub(crate) fn engine_over(&self, store: Arc<dyn Store>) -> Arc<Engine> {
        self.engine_at(store, Arc::clone(&self.clock) as _, Arc::new(NoopRunObserver))
    }

    /// An engine that tells somebody what it keeps.
    pub(crate) fn engine_observed(&self, watch: Arc<dyn RunObserver>) -> Arc<Engine> {
        self.engine_at(Arc::clone(&self.store), Arc::clone(&self.clock) as _, watch)
    }

    pub(crate) fn engine_at(
        &self,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        watch: Arc<dyn RunObserver>,
    ) -> Arc<Engine> {
        Arc::new(self.opened(store, clock, watch))
    }

    /// An engine with a memory.
    pub(crate) fn engine_with(
        &self,
        memory: Arc<dyn Memory>,
        watch: Arc<dyn RunObserver>,
    ) -> Arc<Engine> {
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock) as _);
        Arc::new(self.opened(store, clock, watch).with_memory(memory))
    }

    /// An engine with channels that people are told through.
    pub(crate) fn engine_with_channels(&self, channels: ChannelSet) -> Arc<Engine> {
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock) as _);
        let engine = self.opened(store, clock, Arc::new(NoopRunObserver));
        Arc::new(engine.with_channels(Arc::new(channels)))
    }

    /// An engine without a memory on purpose.
    pub(crate) fn engine_without(&self) -> Arc<Engine> {
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock) as _);
        Arc::new(self.opened(store, clock, Arc::new(NoopRunObserver)).without_memory())
    }

    fn opened(
        &self,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        watch: Arc<dyn RunObserver>,
    ) -> Engine {
        Engine::open(EngineConfig {
            store,
            clock,
            observer: watch,
            shipped_contracts: Arc::clone(&SHIPPED),
            workspace: Some(Workspace::open(&self.work()).unwrap()),
            tenant: TenantId::default(),
        })
    }

    pub(crate) fn hands(&self) -> EffectExecutor {
        let workspace = Workspace::open(&self.work()).unwrap().hide(["hidden"]).unwrap();
        let journal = EffectJournal::open(&self.folder.path().join("effects")).unwrap();
        EffectExecutor::new(workspace, ActionGuard::permit_all(), journal, &self.work())
    }

    /// A worker whose models are scripts in the folder of work.
    pub(crate) fn driver(&self, engine: &Arc<Engine>, worker: &str) -> Driver {
        let models = Arc::new(CachedModelResolver::new(ModelSettings::default(), self.work()));
        self.driver_with(engine, models, worker)
    }

    pub(crate) fn driver_with(
        &self,
        engine: &Arc<Engine>,
        models: Arc<dyn ModelResolver>,
        worker: &str,
    ) -> Driver {
        Driver::new(Arc::clone(engine), models, self.hands(), worker.to_owned())
    }

    /// How a run of the default workflow begins.
    pub(crate) fn begin(&self) -> RunStart {
        RunStart {
            protocol: self.protocol.digest.clone(),
            workflow: self.protocol.default_workflow.clone(),
            ..RunStart::default()
        }
    }

    pub(crate) async fn start(&self, engine: &Engine, run: &str) -> InputOutcome {
        engine.start_named_run(run, &self.protocol, self.begin(), None).await.unwrap()
    }

    /// The kinds of the events of a run, and the proof that they are one.
    pub(crate) async fn events(&self, run: &str) -> Vec<RunEvent> {
        let engine = self.engine();
        let proved = verify_stored_run(&engine, run).await.unwrap().unwrap();
        assert_eq!(
            proved.state,
            *engine.get_run(run).await.unwrap().state,
            "the state is the fold"
        );
        let mut state = RunState::new(run);
        let log = engine.read_log(run).await.unwrap();
        log.iter().flat_map(|one| fold_entry(&mut state, &one.body).unwrap()).collect()
    }

    pub(crate) async fn kinds(&self, run: &str) -> Vec<&'static str> {
        self.events(run).await.iter().map(RunEvent::kind).collect()
    }

    pub(crate) async fn state(&self, run: &str) -> RunState {
        self.engine().get_run(run).await.unwrap().state.as_ref().clone()
    }

    pub(crate) async fn document(&self, run: &str, pointer: &str) -> Value {
        self.state(run).await.document.pointer(pointer).cloned().unwrap_or(Value::Null)
    }
}

/// Somebody answers.
pub(crate) async fn answer(
    engine: &Engine,
    run: &str,
    wait: &str,
    text: &str,
) -> Result<InputOutcome, EngineError> {
    let (wait, value, by) = (wait.to_owned(), json!(text), "anna".to_owned());
    engine.submit_input(run, InputKind::Answered { wait, value, by }, None).await
}
