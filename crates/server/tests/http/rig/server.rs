//! A server over a folder of its own, on a port of its own.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_memory::store::SqliteMemory;
use countersign_models::ModelSettings;
use countersign_protocol::RetrievalSource;
use countersign_run::{IdentitySource, InputSender};
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::driver::CachedModelResolver;
use countersign_runtime::effect::{EffectError, RetrieverFactory, SourceRetriever};
use countersign_runtime::folder::{self, EngineHome};
use countersign_runtime::run_observer::NoopRunObserver;
use countersign_runtime::trust::ActionGuard;
use countersign_server::access::{AccessRole, AuthMode, Keyring, NewApiKey};
use countersign_server::app_state::{AppState, ServerDeps};
use countersign_server::serve::HttpServer;
use countersign_server::service_limits::ServiceLimits;
use countersign_server::shutdown::ShutdownTrigger;
use countersign_shipped_protocols::find_shipped_protocol;
use countersign_store::SqliteStore;
use countersign_view::protocol_catalog::load_shipped_permissions;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::Client;

/// A server that runs, and the folder it works in.
pub(crate) struct Rig {
    pub(crate) folder: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) keyring: Arc<Keyring>,
    stop: ShutdownTrigger,
    serving: JoinHandle<()>,
}

/// No kinds of sources beyond those that the runtime has.
struct NoKinds;

impl RetrieverFactory for NoKinds {
    fn open_retriever(
        &self,
        _: &str,
        _: &RetrievalSource,
        _: &Path,
    ) -> Option<Result<Arc<dyn SourceRetriever>, EffectError>> {
        None
    }
}

/// A server over a copy of the shipped protocol `demo`, on loopback.
pub(crate) async fn serve() -> Rig {
    open(AuthMode::LoopbackToken).await
}

/// The same, where everybody needs a key.
pub(crate) async fn serve_keyed() -> Rig {
    open(AuthMode::KeyRequired).await
}

async fn open(demand: AuthMode) -> Rig {
    Rig::open(demo_folder(), demand).await
}

/// A folder with a copy of the shipped protocol `demo`.
pub(crate) fn demo_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let shipped = find_shipped_protocol("demo").unwrap();
    for (path, text) in shipped.files {
        write(&folder.path().join(".opencode/protocol").join(path), text.as_bytes());
    }
    for (path, bytes) in shipped.workspace_files {
        write(&folder.path().join(path), bytes);
    }
    folder
}

impl Rig {
    /// A server over a folder as it is.
    pub(crate) async fn open(folder: TempDir, demand: AuthMode) -> Self {
        Self::open_with(folder, demand, ServiceLimits::default()).await
    }

    /// The same, which holds so much at once.
    pub(crate) async fn open_with(
        folder: TempDir,
        demand: AuthMode,
        limits: ServiceLimits,
    ) -> Self {
        let home = EngineHome::find_or_create(folder.path()).unwrap();
        let keyring = Arc::new(Keyring::open(home.folder().join("keys.json")));
        let address: SocketAddr = "127.0.0.1:0".parse().unwrap();
        if demand == AuthMode::KeyRequired && keyring.load_keys().unwrap().is_empty() {
            make_key(&keyring, "default", AccessRole::Admin);
        }
        let app_state = Arc::new(AppState::open(build_deps(&folder, home)));
        let bound =
            HttpServer::bind(&[address], app_state, Arc::clone(&keyring), demand).await.unwrap();
        let address = bound.addresses()[0];
        let (stop, stopping) = ShutdownTrigger::new();
        // A model that never answers is not waited for.
        let bound = bound.with_grace(Duration::from_secs(4));
        // More than any test but one asks of one key in a second.
        let bound = bound.with_rate(20).with_limits(limits);
        let serving = tokio::spawn(bound.run(stopping));
        Self { folder, address, keyring, stop, serving }
    }

    /// A client of whoever owns the folder: with the token, where there is one.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.address, self.token())
    }

    /// A client with neither a key nor a token.
    pub(crate) fn stranger(&self) -> Client {
        Client::new(self.address, None)
    }

    /// The token of the server, as its owner reads it.
    pub(crate) fn token(&self) -> Option<String> {
        let path = self.folder.path().join(".countersign/token");
        fs::read_to_string(path).ok().map(|token| token.trim_end().to_owned())
    }

    /// A client with a new key.
    pub(crate) fn client_of(&self, tenant: &str, role: AccessRole) -> Client {
        Client::new(self.address, Some(self.new_key(tenant, role)))
    }

    /// A new key, as its holder has it.
    pub(crate) fn new_key(&self, tenant: &str, role: AccessRole) -> String {
        make_key(&self.keyring, tenant, role)
    }

    /// Ends the server as Ctrl-C does, and gives back its folder.
    pub(crate) async fn end(self) -> TempDir {
        self.stop.trigger();
        self.serving.await.unwrap();
        self.folder
    }
}

/// A new key, as its holder has it.
pub(crate) fn make_key(keyring: &Keyring, tenant: &str, role: AccessRole) -> String {
    let new = NewApiKey {
        tenant: tenant.to_owned(),
        role,
        user: Some(format!("{tenant}-{role}")),
        groups: vec![format!("{tenant}-staff")],
        expires_at: None,
    };
    keyring.create(new, SystemClock.now()).unwrap().1.reveal().to_owned()
}

fn build_deps(folder: &TempDir, home: EngineHome) -> ServerDeps {
    let models = CachedModelResolver::new(ModelSettings::default(), folder.path().to_owned());
    ServerDeps {
        store: Arc::new(SqliteStore::open(home.database_path()).unwrap()),
        embedder: None,
        memory: Some(Arc::new(SqliteMemory::open(home.memory_path()).unwrap())),
        memory_disabled: false,
        clock: Arc::new(SystemClock),
        watch: Arc::new(NoopRunObserver),
        models: Arc::new(models),
        sources: Arc::new(NoKinds),
        document_reader: countersign_runtime::document::DocumentReader::in_process(),
        guard: ActionGuard::new(home.workspace().to_owned(), load_shipped_permissions),
        channels: Arc::default(),
        contracts: Arc::new(countersign_shipped_contracts::load_shipped_contracts()),
        protocol_folder: folder::find_protocol_folder(folder.path()),
        home,
        model_override: None,
        default_user: "ann".to_owned(),
        default_sender: InputSender {
            identity: IdentitySource::System,
            principal: None,
            groups: Vec::new(),
            roles: AccessRole::Admin.included_names(),
        },
        host: "here".to_owned(),
    }
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}
