//! The engine itself: what it is made of, and the runs it has in memory.
//!
//! Any number of engines may work on one store; each run has one history all the same. What is in
//! memory is never the truth, only a way not to read it again: the store refuses what was decided on
//! something older.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::contract::Registry;
use countersign_core::protocol::{Check, Protocol};
use countersign_core::run::{Incoming, Input, see_files};
use countersign_memory::store::Memory;
use countersign_models::Embedder;
use countersign_store::{RunId, Store, TenantId};
use tokio::task::spawn_blocking;

use super::{EngineError, Live, Pinned};
use crate::clock::Clock;
use crate::recall::Recall;
use crate::recent::Recent;
use crate::watch::Watch;
use crate::workspace::Workspace;

/// How many runs are kept in memory at most; any can be loaded again.
const MOST_LIVE: usize = 4_096;

/// How many protocols are kept compiled at most; any can be compiled again from the store.
const MAX_PROTOCOLS: usize = 256;

/// Decides inputs and keeps what comes of them.
pub struct Engine {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    watch: Arc<dyn Watch>,
    shipped: Arc<Registry>,
    workspace: Option<Workspace>,
    tenant: TenantId,
    recall: Option<Recall>,
    unremembered: bool,
    protocols: Mutex<Recent<String, Arc<Protocol>>>,
    live: Mutex<Recent<RunId, Arc<Live>>>,
}

/// What an engine is made of.
pub struct Opened {
    /// Where runs are kept.
    pub store: Arc<dyn Store>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who is told what became true.
    pub watch: Arc<dyn Watch>,
    /// The contracts that ship.
    pub shipped: Arc<Registry>,
    /// Where files are; without one, no file is there.
    pub workspace: Option<Workspace>,
    /// Whose runs.
    pub tenant: TenantId,
}

impl Engine {
    /// An engine over a store.
    #[must_use]
    pub fn open(opened: Opened) -> Self {
        let Opened { store, clock, watch, shipped, workspace, tenant } = opened;
        let (recall, unremembered) = (None, false);
        let protocols = Mutex::new(Recent::new(MAX_PROTOCOLS));
        let live = Mutex::new(Recent::new(MOST_LIVE));
        Self {
            store,
            clock,
            watch,
            shipped,
            workspace,
            tenant,
            recall,
            unremembered,
            protocols,
            live,
        }
    }

    /// The same engine, with a memory: runs are remembered, and models reminded.
    #[must_use]
    pub fn with_memory(self, memory: Arc<dyn Memory>) -> Self {
        Self { recall: Some(Recall::new(memory)), ..self }
    }

    /// The same engine, without a memory on purpose: what is started here says so, and is never remembered,
    /// also not by another engine. One that has none because it is away says nothing, and is caught up.
    #[must_use]
    pub fn without_memory(self) -> Self {
        Self { recall: None, unremembered: true, ..self }
    }

    /// The same engine, with somebody who makes vectors for its memory, where it has one. Policies say
    /// whether they count.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { recall: self.recall.map(|recall| recall.with_embedder(embedder)), ..self }
    }

    /// Its memory, where it has one.
    #[must_use]
    pub fn recall(&self) -> Option<&Recall> {
        self.recall.as_ref()
    }

    /// Whether memory was turned off here.
    pub(super) fn is_without_memory(&self) -> bool {
        self.unremembered
    }

    /// The store below.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The clock it goes by.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Who is told.
    #[must_use]
    pub fn watch(&self) -> &Arc<dyn Watch> {
        &self.watch
    }

    /// Where files are.
    #[must_use]
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// A run of this engine's tenant.
    #[must_use]
    pub fn run_id(&self, id: impl Into<String>) -> RunId {
        RunId::new(self.tenant.clone(), id)
    }

    /// The contracts that ship.
    #[must_use]
    pub fn shipped(&self) -> &Registry {
        &self.shipped
    }

    /// Whose runs.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// A run as it was when this engine last saw it.
    pub(crate) async fn live(&self, run: &RunId) -> Result<Arc<Live>, EngineError> {
        if let Some(live) = self.known(run) {
            return Ok(live);
        }
        let live = Arc::new(self.at(&run.id, None).await?);
        self.put(run, Arc::clone(&live));
        Ok(live)
    }

    /// A run as the store has it now. What is in memory is taken where it is just that.
    pub(crate) async fn fresh(&self, run: &RunId) -> Result<Arc<Live>, EngineError> {
        if let Some(known) = self.known(run)
            && !self.is_behind(run, &known).await?
        {
            return Ok(known);
        }
        self.forget(run);
        self.live(run).await
    }

    /// Whether the store has something else than what is in memory.
    pub(super) async fn is_behind(&self, run: &RunId, live: &Live) -> Result<bool, EngineError> {
        let head = self.store.head(run).await?;
        let same = |head: countersign_store::Head| {
            head.version == live.state.version && head.hash == live.hash && head.pruned.is_none()
        };
        Ok(!head.is_some_and(same))
    }

    fn known(&self, run: &RunId) -> Option<Arc<Live>> {
        lock(&self.live).get(run).cloned()
    }

    /// Keeps a run in memory, unless a later version of it is there.
    pub(super) fn put(&self, run: &RunId, live: Arc<Live>) {
        let mut known = lock(&self.live);
        if known.get(run).is_some_and(|other| other.state.version > live.state.version) {
            return;
        }
        known.insert(run.clone(), live);
    }

    pub(crate) fn forget(&self, run: &RunId) {
        lock(&self.live).remove(run);
    }

    /// The protocol a run is pinned to.
    pub(crate) async fn protocol(
        &self,
        run: &RunId,
        digest: &str,
    ) -> Result<Arc<Protocol>, EngineError> {
        if let Some(known) = self.pinned(digest) {
            return Ok(known);
        }
        let fault = |why: String| EngineError::Protocol {
            run: run.id.clone(),
            digest: digest.to_owned(),
            why,
        };
        let text = self.store.protocol(&run.tenant, digest).await?;
        let text = text.ok_or_else(|| fault("its files are not in the store".to_owned()))?;
        let pinned: Pinned =
            serde_json::from_str(&text).map_err(|error| fault(error.to_string()))?;
        let protocol = Arc::new(pinned.protocol(&self.shipped).map_err(fault)?);
        self.remember(&protocol);
        Ok(protocol)
    }

    /// A protocol whose files are in the store, where this engine had it in hand before.
    pub(super) fn pinned(&self, digest: &str) -> Option<Arc<Protocol>> {
        lock(&self.protocols).get(&digest.to_owned()).cloned()
    }

    pub(super) fn remember(&self, protocol: &Arc<Protocol>) {
        lock(&self.protocols).insert(protocol.digest.clone(), Arc::clone(protocol));
    }

    /// Names in an input which files are there, of those that gates of the workflow ask for.
    pub(super) async fn see(&self, live: &Live, input: &mut Input) {
        input.files.clear();
        let workflow = match &input.what {
            Incoming::Start(start) => &start.workflow,
            _ => &live.state.workflow,
        };
        let ways = live.protocol.workflows.get(workflow).map(|workflow| &workflow.transitions);
        let checks = ways.into_iter().flatten().filter_map(|way| Some(&way.gate.as_ref()?.check));
        let (mut paths, mut unknown) = (BTreeSet::new(), false);
        for check in checks {
            match check {
                Check::File { path } => drop(paths.insert(path.clone())),
                Check::FileAt { .. } => unknown = true,
                _ => {}
            }
        }
        // Most workflows have no such gate, and need neither a workspace nor another thread.
        if paths.is_empty() && !unknown {
            return;
        }
        let (protocol, state) = (Arc::clone(&live.protocol), Arc::clone(&live.state));
        let workspace = self.workspace.as_ref().map(|files| files.with_policy(&protocol.policy));
        let mut seen = input.clone();
        let looked = spawn_blocking(move || {
            let exists = |path: &str| {
                workspace.as_ref().is_some_and(|workspace| workspace.exists(path).unwrap_or(false))
            };
            seen.files.extend(paths.into_iter().map(|path| {
                let there = exists(&path);
                (path, there)
            }));
            // Which those are is known only once the input is decided.
            if unknown {
                see_files(&protocol, &state, &mut seen, exists);
            }
            seen.files
        });
        // A thread that broke off saw nothing: the gates stay closed.
        input.files = looked.await.unwrap_or_default();
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind it is put in whole or not at all, so a panic elsewhere leaves it usable.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
