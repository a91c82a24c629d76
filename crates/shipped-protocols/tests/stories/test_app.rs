//! An app for tests: a folder of work, a database in a file, a shipped protocol, and an engine that can be
//! closed and opened again. Models are nobody: every reply is handed in by the story.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use countersign_contract::contract::ContractRegistry;
use countersign_models::ChatModel;
use countersign_protocol::{Protocol, load_protocol};
use countersign_run::{InputKind, PendingAction, RunStart, RunState};
use countersign_runtime::document::DocumentReader;
use countersign_runtime::driver::{Driver, EffectExecutor, ModelResolver};
use countersign_runtime::effect::EffectJournal;
use countersign_runtime::engine::{Engine, EngineConfig, EngineError, InputOutcome};
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_runtime::trust::ActionGuard;
use countersign_runtime::workspace::Workspace;
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_shipped_protocols::find_shipped_protocol;
use countersign_sources::BuiltinSources;
use countersign_store::{SqliteStore, TenantId};
use tempfile::TempDir;

use super::clock::Manual;

static SHIPPED: LazyLock<Arc<ContractRegistry>> =
    LazyLock::new(|| Arc::new(load_shipped_contracts()));

/// The run that every story is about.
pub(crate) const RUN: &str = "r1";

/// The app of one test.
pub(crate) struct TestApp {
    folder: TempDir,
    pub(crate) clock: Arc<Manual>,
    pub(crate) protocol: Arc<Protocol>,
    pub(crate) engine: Arc<Engine>,
    /// Every run there is, and the last version that was told of it.
    pub(crate) runs: BTreeMap<String, u64>,
}

/// Whoever is asked, a person takes its place.
struct Nobody;

impl ModelResolver for Nobody {
    fn resolve_model(&self, _: &str) -> Result<Option<Arc<dyn ChatModel>>, String> {
        Ok(None)
    }
}

impl TestApp {
    /// An app with a shipped protocol, and what it lays into the folder of work.
    pub(crate) fn new(protocol: &str) -> Self {
        let shipped = find_shipped_protocol(protocol).unwrap();
        let loaded = load_protocol(shipped.to_bundle(), &SHIPPED).unwrap_or_else(|faults| {
            let messages: Vec<String> = faults.iter().map(ToString::to_string).collect();
            panic!("{protocol}: {}", messages.join("\n"))
        });
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let clock = Arc::new(Manual::new());
        let engine = engine(&folder, &clock);
        let protocol = Arc::new(loaded.protocol);
        let app = Self { folder, clock, protocol, engine, runs: BTreeMap::new() };
        for (path, content) in shipped.workspace_files {
            app.put(path, content);
        }
        app
    }

    /// The folder of work.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Puts a file into the folder of work, whole.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The process ends, and another one opens the same file.
    pub(crate) fn restart(&mut self) {
        self.engine = engine(&self.folder, &self.clock);
    }

    /// The run begins.
    pub(crate) async fn start(&mut self, start: RunStart) -> Result<InputOutcome, EngineError> {
        let outcome = self.engine.start_named_run(RUN, &self.protocol, start, None).await?;
        self.runs.insert(RUN.to_owned(), 0);
        Ok(outcome)
    }

    /// Gives a run something.
    pub(crate) async fn give(
        &self,
        run: &str,
        what: InputKind,
    ) -> Result<InputOutcome, EngineError> {
        self.engine.submit_input(run, what, None).await
    }

    /// A run as it is.
    pub(crate) async fn state(&self, run: &str) -> RunState {
        self.engine.get_run(run).await.unwrap().state.as_ref().clone()
    }

    /// Works on every run until all have come to rest.
    pub(crate) async fn drive(&mut self) {
        let workspace = Workspace::open(&self.work()).unwrap();
        let journal = EffectJournal::open(&self.folder.path().join("effects")).unwrap();
        let hands =
            EffectExecutor::new(workspace, ActionGuard::permit_all(), journal, &self.work())
                .with_retriever_factory(Arc::new(BuiltinSources::new(
                    DocumentReader::in_process(),
                    Box::new(|_| None),
                )));
        let driver =
            Driver::new(Arc::clone(&self.engine), Arc::new(Nobody), hands, "story".to_owned());
        loop {
            let before = self.versions().await;
            for run in before.keys() {
                driver.drive(run).await.unwrap();
            }
            for run in before.keys() {
                for order in self.state(run).await.pending.values() {
                    if let PendingAction::Child { run, .. } = order {
                        self.runs.entry(run.clone()).or_insert(0);
                    }
                }
            }
            if self.versions().await == before {
                return;
            }
        }
    }

    async fn versions(&self) -> BTreeMap<String, u64> {
        let mut versions = BTreeMap::new();
        for run in self.runs.keys() {
            versions.insert(run.clone(), self.state(run).await.version);
        }
        versions
    }
}

fn engine(folder: &TempDir, clock: &Arc<Manual>) -> Arc<Engine> {
    Arc::new(Engine::open(EngineConfig {
        store: Arc::new(SqliteStore::open(folder.path().join("runs.db")).unwrap()),
        clock: Arc::clone(clock) as _,
        observer: Arc::new(NoopRunObserver),
        shipped_contracts: Arc::clone(&SHIPPED),
        workspace: Some(Workspace::open(&folder.path().join("work")).unwrap()),
        tenant: TenantId::default(),
    }))
}
