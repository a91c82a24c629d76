//! Giving a run something: decide, and keep what comes of it in one commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_core::has_credentials;
use countersign_core::protocol::Protocol;
use countersign_core::run::{
    GENESIS_HASH, InputKind, InputRejection, RunEvent, RunInput, RunStart, RunState, decide,
    seal_entry,
};
use countersign_store::{Blob, Lease, NewRun, RunCommit, RunId, SnapshotRow, StoreError};

use super::run_metrics::count_events;
use super::{Engine, EngineError, InputOutcome, LiveRun, PinnedProtocol, commit_rows};
use crate::memory_recorder;

/// How often an input is decided again when another writer was first.
const MAX_ATTEMPTS: usize = 64;

/// Something that comes with an input: a key, a lease, bytes it speaks of, the version it was decided on.
#[derive(Debug, Default)]
pub(crate) struct InputOptions {
    pub(crate) key: Option<String>,
    pub(crate) lease: Option<Lease>,
    pub(crate) blobs: Vec<Blob>,
    /// The version it must be taken at, where one is said.
    pub(crate) expected_version: Option<u64>,
}

/// What an input would come to: all that is left is to keep it.
pub(crate) struct PreparedCommit {
    pub(crate) commit: RunCommit,
    pub(crate) next: LiveRun,
    events: Vec<RunEvent>,
}

impl Engine {
    /// Begins a run under a name. The same key twice begins it once.
    pub async fn start_named_run(
        &self,
        run: &str,
        protocol: &Arc<Protocol>,
        start: RunStart,
        key: Option<String>,
    ) -> Result<InputOutcome, EngineError> {
        if start.model.as_deref().is_some_and(has_credentials) {
            return Err(EngineError::CredentialsInAddress);
        }
        let protocol = &self.pin_protocol(protocol).await?;
        let start = RunStart { unremembered: self.should_skip_memory(&start).await?, ..start };
        let id = self.run_id(run);
        let blank = LiveRun {
            state: Arc::new(RunState::new(run)),
            hash: GENESIS_HASH.to_owned(),
            protocol: Arc::clone(protocol),
            bytes_since_snapshot: 0,
            snapshot_bytes: 0,
        };
        let mut input = new_input(InputKind::Start(Box::new(start)), key);
        let decided = self.decide_input(&id, &blank, &mut input).await?;
        let new = NewRun {
            protocol: protocol.digest.clone(),
            workflow: decided.next.state.workflow.clone(),
            created_at: decided.next.state.created_at.0,
        };
        match self.store().create_run(new, decided.commit).await {
            Ok(()) => Ok(self.publish_commit(&id, decided.next, decided.events)),
            Err(StoreError::DuplicateKey { .. }) => self.get_run(run).await,
            Err(other) => Err(other.into()),
        }
    }

    /// Keeps the files of a protocol, once, and gives the one that all its runs here share.
    async fn pin_protocol(&self, protocol: &Arc<Protocol>) -> Result<Arc<Protocol>, EngineError> {
        if let Some(known) = self.find_cached_protocol(&protocol.digest) {
            return Ok(known);
        }
        let pinned = PinnedProtocol::from_protocol(protocol).to_json();
        self.store().put_protocol(self.tenant(), &protocol.digest, &pinned).await?;
        self.cache_protocol(protocol);
        Ok(Arc::clone(protocol))
    }

    /// Gives a run an input. The same key twice is one input.
    pub async fn submit_input(
        &self,
        run: &str,
        what: InputKind,
        key: Option<String>,
    ) -> Result<InputOutcome, EngineError> {
        let run = self.run_id(run);
        let what = memory_recorder::link_build(self, &run, what).await;
        self.submit_with_options(&run, what, InputOptions { key, ..InputOptions::default() }).await
    }

    /// Gives a run an input that was decided on at a version, where one is said: it is taken at that version
    /// or not at all. A key that was used before gives what it gave then, at the version that took it; one
    /// that was used for another input is told.
    pub async fn submit_input_if(
        &self,
        run: &str,
        what: InputKind,
        key: Option<String>,
        at: Option<u64>,
    ) -> Result<InputOutcome, EngineError> {
        let run = self.run_id(run);
        let what = memory_recorder::link_build(self, &run, what).await;
        if let Some(key) = &key
            && let Some(outcome) =
                self.find_repeated_input(&run.id, key, |kept| *kept == what).await?
        {
            return Ok(outcome);
        }
        self.submit_with_options(
            &run,
            what,
            InputOptions { key, expected_version: at, ..InputOptions::default() },
        )
        .await
    }

    pub(crate) async fn submit_with_options(
        &self,
        run: &RunId,
        what: InputKind,
        along: InputOptions,
    ) -> Result<InputOutcome, EngineError> {
        let InputOptions { key, lease, blobs, expected_version: at } = along;
        let resumes = matches!(what, InputKind::Resumed { .. });
        let unparked = resumes && self.unpark_run(run).await?;
        let mut input = new_input(what, key);
        for _ in 0..MAX_ATTEMPTS {
            let live = if at.is_some() {
                self.refresh_live_run(run).await?
            } else {
                self.get_live_run(run).await?
            };
            let found = live.state.version;
            if let Some(expected) = at.filter(|expected| *expected != found) {
                return Err(EngineError::VersionMismatch { run: run.id.clone(), expected, found });
            }
            let mut decided = match self.decide_input(run, &live, &mut input).await {
                Ok(decided) => decided,
                // Another process may have gone on, and what was asked of it may fit by now.
                Err(_) if self.is_stale(run, &live).await? => {
                    self.evict_run(run);
                    continue;
                }
                // What was taken before would be rejected now; a key tells the two apart.
                Err(_) if self.is_key_used(run, input.key.as_deref()).await? => {
                    return Ok(InputOutcome::from_unchanged(&live));
                }
                // That workers may take it again was all there was to resume.
                Err(InputRejection::NothingToResume { .. }) if unparked => {
                    return Ok(InputOutcome::from_unchanged(&live));
                }
                Err(rejection) => return Err(rejection.into()),
            };
            (decided.commit.lease, decided.commit.blobs) = (lease.clone(), blobs.clone());
            match self.store().append_commit(decided.commit).await {
                Ok(()) => return Ok(self.publish_commit(run, decided.next, decided.events)),
                Err(StoreError::Conflict { .. }) => self.evict_run(run),
                Err(StoreError::DuplicateKey { .. }) => {
                    return Ok(InputOutcome::from_unchanged(&*self.refresh_live_run(run).await?));
                }
                Err(other) => {
                    // Whether it was kept is not known; what is true is read again next time.
                    self.evict_run(run);
                    return Err(other.into());
                }
            }
        }
        Err(EngineError::Contended { run: run.id.clone() })
    }

    /// Lets workers take a run again on which too many of them ended. Whether it was such a one.
    async fn unpark_run(&self, run: &RunId) -> Result<bool, EngineError> {
        match self.store().unpark_run(run, self.clock().now().0).await {
            Err(StoreError::NotFound { .. }) => Ok(false),
            unparked => Ok(unparked?),
        }
    }

    /// Decides an input as of now.
    pub(crate) async fn decide_input(
        &self,
        run: &RunId,
        live: &LiveRun,
        input: &mut RunInput,
    ) -> Result<PreparedCommit, InputRejection> {
        // A clock that was set back, or that of another machine, does not turn the run's time back.
        input.time = self.clock().now().max(live.state.updated_at);
        self.record_files(live, input).await;
        let step = decide(&live.protocol, &live.state, input)?;
        let entry = seal_entry(&live.state, &step.state, &step.events, &live.hash);
        let mut next = LiveRun {
            hash: entry.hash.clone(),
            bytes_since_snapshot: live.bytes_since_snapshot + entry.body.len(),
            snapshot_bytes: live.snapshot_bytes,
            protocol: Arc::clone(&live.protocol),
            state: Arc::new(step.state),
        };
        let now = self.clock().now().min(input.time);
        let mut commit =
            commit_rows::build_commit(run, &live.protocol, &live.state, &next.state, entry, now);
        commit.idempotency_key.clone_from(&input.key);
        let (version, seq) = (next.state.version, next.state.seq);
        commit.snapshot = next.take_due_snapshot().map(|body| SnapshotRow { version, seq, body });
        Ok(PreparedCommit { commit, next, events: step.events })
    }

    /// After the commit: everybody may know.
    fn publish_commit(&self, run: &RunId, next: LiveRun, events: Vec<RunEvent>) -> InputOutcome {
        count_events(&events);
        self.observer().on_commit(&next.state, &events);
        let (state, protocol) = (Arc::clone(&next.state), Arc::clone(&next.protocol));
        self.cache_run(run, Arc::new(next));
        InputOutcome { state, events, protocol }
    }

    async fn is_key_used(&self, run: &RunId, key: Option<&str>) -> Result<bool, EngineError> {
        let Some(key) = key else { return Ok(false) };
        Ok(self.store().find_key_version(run, key).await?.is_some())
    }
}

/// An input whose time and files are told when it is decided.
pub(crate) fn new_input(what: InputKind, key: Option<String>) -> RunInput {
    let (time, files) = (countersign_core::run::Timestamp::default(), BTreeMap::new());
    RunInput { time, key, files, what }
}
