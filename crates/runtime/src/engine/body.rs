//! The engine itself. Any number may work on one store; each run has one history all the same.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::contract::Registry;
use countersign_core::protocol::{Check, Protocol};
use countersign_core::run::{
    Incoming, Input, Sealed, Start, State, Verification, decide, seal, verify,
};
use countersign_store::{
    Blob, Commit, EventRow, Lease, NewRun, RunId, SnapshotRow, Store, StoreError, TenantId,
};

use super::rows;
use super::{EngineError, Live, Outcome, Pinned};
use crate::clock::Clock;
use crate::watch::Watch;
use crate::workspace::Workspace;

/// How often an input is decided again when another writer was first.
const TRIES: usize = 64;

/// How many runs are kept in memory at most; any can be loaded again.
const MOST_LIVE: usize = 4_096;

/// Decides inputs and keeps what comes of them.
pub struct Engine {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    watch: Arc<dyn Watch>,
    shipped: Arc<Registry>,
    workspace: Option<Workspace>,
    tenant: TenantId,
    protocols: Mutex<BTreeMap<String, Arc<Protocol>>>,
    live: Mutex<BTreeMap<RunId, Live>>,
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

/// Something that comes with an input: a key, a lease, bytes it speaks of.
#[derive(Debug, Default)]
pub(crate) struct Along {
    pub(crate) key: Option<String>,
    pub(crate) lease: Option<Lease>,
    pub(crate) blobs: Vec<Blob>,
}

impl Engine {
    /// An engine over a store.
    #[must_use]
    pub fn open(opened: Opened) -> Self {
        let Opened { store, clock, watch, shipped, workspace, tenant } = opened;
        let (protocols, live) = (Mutex::default(), Mutex::default());
        Self { store, clock, watch, shipped, workspace, tenant, protocols, live }
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

    /// Begins a run under a name.
    pub async fn start(
        &self,
        run: &str,
        protocol: &Arc<Protocol>,
        start: Start,
        key: Option<String>,
    ) -> Result<Outcome, EngineError> {
        let pinned = serde_json::to_string(&Pinned::of(protocol)).expect("texts are JSON");
        self.store.put_protocol(&self.tenant, &protocol.digest, &pinned).await?;
        self.remember(protocol);
        let before = State::blank(run);
        let workflow = start.workflow.clone();
        let input = self.input(protocol, &workflow, Incoming::Start(Box::new(start)), key);
        let step = decide(protocol, &before, &input)?;
        let run = self.run_id(run);
        let sealed = seal(&before, &step.state, &step.events, countersign_core::run::GENESIS);
        let mut live = Live {
            hash: sealed.last().map(|last| last.hash.clone()).unwrap_or_default(),
            since: sealed.iter().map(|one| one.body.len()).sum(),
            snapshot: 0,
            protocol: Arc::clone(protocol),
            state: step.state,
        };
        let mut commit = rows::commit(&run, protocol, &before, &live.state, sealed);
        commit.key = input.key;
        self.add_snapshot(&mut commit, &mut live);
        let new = NewRun {
            protocol: protocol.digest.clone(),
            workflow: live.state.workflow.clone(),
            created_at: live.state.created_at.0,
        };
        self.store.create(new, commit).await?;
        self.watch.committed(&live.state, &step.events);
        let state = live.state.clone();
        self.put(&run, live);
        Ok(Outcome { state, events: step.events, protocol: Arc::clone(protocol) })
    }

    /// Gives a run an input. The same key twice is one input.
    pub async fn give(
        &self,
        run: &str,
        what: Incoming,
        key: Option<String>,
    ) -> Result<Outcome, EngineError> {
        self.give_along(&self.run_id(run), what, Along { key, ..Along::default() }).await
    }

    pub(crate) async fn give_along(
        &self,
        run: &RunId,
        what: Incoming,
        along: Along,
    ) -> Result<Outcome, EngineError> {
        let Along { key, lease, blobs } = along;
        for _ in 0..TRIES {
            let live = self.live(run).await?;
            let protocol = Arc::clone(&live.protocol);
            let workflow = live.state.workflow.clone();
            let input = self.input(&protocol, &workflow, what.clone(), key.clone());
            let step = match decide(&protocol, &live.state, &input) {
                Ok(step) => step,
                Err(rejection) => {
                    // What was taken before would be rejected now; a key tells the two apart.
                    return match self.taken_before(run, key.as_deref()).await? {
                        Some(state) => Ok(Outcome { state, events: Vec::new(), protocol }),
                        None => Err(rejection.into()),
                    };
                }
            };
            let sealed = seal(&live.state, &step.state, &step.events, &live.hash);
            let mut next = Live {
                hash: sealed.last().map(|last| last.hash.clone()).unwrap_or_default(),
                since: live.since + sealed.iter().map(|one| one.body.len()).sum::<usize>(),
                snapshot: live.snapshot,
                protocol: Arc::clone(&protocol),
                state: step.state,
            };
            let mut commit = rows::commit(run, &protocol, &live.state, &next.state, sealed);
            (commit.key, commit.lease, commit.blobs) = (input.key, lease.clone(), blobs.clone());
            self.add_snapshot(&mut commit, &mut next);
            match self.store.append(commit).await {
                Ok(()) => {
                    self.watch.committed(&next.state, &step.events);
                    let state = next.state.clone();
                    self.put(run, next);
                    return Ok(Outcome { state, events: step.events, protocol });
                }
                Err(StoreError::Conflict { .. }) => self.forget(run),
                Err(StoreError::DuplicateKey { .. }) => {
                    self.forget(run);
                    let state = self.live(run).await?.state;
                    return Ok(Outcome { state, events: Vec::new(), protocol });
                }
                Err(other) => {
                    // Whether it was kept is not known; what is true is read again next time.
                    self.forget(run);
                    return Err(other.into());
                }
            }
        }
        Err(EngineError::Contended { run: run.id.clone() })
    }

    async fn taken_before(
        &self,
        run: &RunId,
        key: Option<&str>,
    ) -> Result<Option<State>, EngineError> {
        let Some(key) = key else { return Ok(None) };
        match self.store.keyed(run, key).await? {
            None => Ok(None),
            Some(_) => {
                self.forget(run);
                Ok(Some(self.live(run).await?.state))
            }
        }
    }

    /// A run as it is now.
    pub async fn look(&self, run: &str) -> Result<Outcome, EngineError> {
        let run = self.run_id(run);
        self.forget(&run);
        let live = self.live(&run).await?;
        Ok(Outcome { state: live.state, events: Vec::new(), protocol: live.protocol })
    }

    /// A run as it was at a version, with the hash of that version's last event.
    pub async fn at(&self, run: &str, version: Option<u64>) -> Result<Live, EngineError> {
        let id = self.run_id(run);
        let missing = || EngineError::NoRun { run: run.to_owned(), version };
        let loaded = self.store.load(&id, version).await?.ok_or_else(missing)?;
        let protocol = self.protocol(&id, &loaded.head.protocol).await?;
        Live::of(&loaded, protocol)
            .map_err(|source| EngineError::Corrupt { run: run.to_owned(), source })
    }

    /// The whole log of a run.
    pub async fn log(&self, run: &str) -> Result<Vec<Sealed>, EngineError> {
        const PAGE: usize = 4_096;
        let run = self.run_id(run);
        let mut log: Vec<Sealed> = Vec::new();
        loop {
            let after = log.last().map_or(0, |last| last.seq);
            let page = self.store.events(&run, after, PAGE).await?;
            let full = page.len() == PAGE;
            log.extend(page.into_iter().map(sealed));
            if !full {
                break;
            }
        }
        if log.is_empty() {
            return Err(EngineError::NoRun { run: run.id, version: None });
        }
        Ok(log)
    }

    /// Proves the log of a run: its chain, its fold, and every decision made again.
    pub async fn prove(
        &self,
        run: &str,
    ) -> Result<Result<Verification, countersign_core::run::Fault>, EngineError> {
        let id = self.run_id(run);
        let missing = || EngineError::NoRun { run: run.to_owned(), version: None };
        let head = self.store.head(&id).await?.ok_or_else(missing)?;
        let protocol = self.protocol(&id, &head.protocol).await?;
        let log = self.log(run).await?;
        Ok(verify(&protocol, run, &log))
    }

    /// The protocol a run is pinned to.
    pub(crate) async fn protocol(
        &self,
        run: &RunId,
        digest: &str,
    ) -> Result<Arc<Protocol>, EngineError> {
        let known =
            self.protocols.lock().unwrap_or_else(PoisonError::into_inner).get(digest).cloned();
        if let Some(known) = known {
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

    fn remember(&self, protocol: &Arc<Protocol>) {
        let mut known = self.protocols.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(protocol.digest.clone(), Arc::clone(protocol));
    }

    pub(crate) async fn live(&self, run: &RunId) -> Result<Live, EngineError> {
        let known = self.live.lock().unwrap_or_else(PoisonError::into_inner).get(run).cloned();
        if let Some(live) = known {
            return Ok(live);
        }
        let live = self.at(&run.id, None).await?;
        self.put(run, live.clone());
        Ok(live)
    }

    fn put(&self, run: &RunId, live: Live) {
        let mut known = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_LIVE && !known.contains_key(run) {
            known.pop_first();
        }
        known.insert(run.clone(), live);
    }

    pub(crate) fn forget(&self, run: &RunId) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
    }

    fn input(
        &self,
        protocol: &Protocol,
        workflow: &str,
        what: Incoming,
        key: Option<String>,
    ) -> Input {
        Input { time: self.clock.now(), key, files: self.files(protocol, workflow), what }
    }

    /// Which files are there, of those that gates of the workflow ask for.
    fn files(&self, protocol: &Protocol, workflow: &str) -> BTreeMap<String, bool> {
        let mut files = BTreeMap::new();
        let ways = protocol.workflows.get(workflow).map(|workflow| &workflow.transitions);
        for way in ways.into_iter().flatten() {
            if let Some(Check::File { path }) = way.gate.as_ref().map(|gate| &gate.check) {
                let exists = |workspace: &Workspace| workspace.exists(path).unwrap_or(false);
                files.insert(path.clone(), self.workspace.as_ref().is_some_and(exists));
            }
        }
        files
    }

    fn add_snapshot(&self, commit: &mut Commit, live: &mut Live) {
        let (version, seq) = (live.state.version, live.state.seq);
        commit.snapshot = live.due().map(|body| SnapshotRow { version, seq, body });
    }
}

fn sealed(row: EventRow) -> Sealed {
    let EventRow { seq, version, time, kind, hash, body } = row;
    Sealed { seq, version, time: countersign_core::run::Time(time), kind, hash, body }
}
