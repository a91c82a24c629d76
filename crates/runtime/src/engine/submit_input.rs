//! Submits an input to a run: decides it, and stores the result in a single commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_contract::has_credentials;
use countersign_protocol::Protocol;
use countersign_run::{
    AttributedInput, GENESIS_HASH, InputKind, InputRejection, RunEvent, RunInput, RunStart,
    RunState, decide, seal_entry,
};
use countersign_store::{Blob, Lease, RunCommit, RunId, SnapshotRow, StoreError};

use tracing::field::Empty;
use tracing::{Instrument as _, Span, debug, info_span, trace};

use super::run_metrics::report_commit;
use super::{Engine, EngineError, InputOutcome, LiveRun, PinnedProtocol, commit_rows};
use crate::memory_recorder;

/// How many times an input is decided when other writers commit first.
const MAX_ATTEMPTS: usize = 64;

/// What accompanies an input: a key, a lease, the bytes it refers to, and the expected version.
#[derive(Debug, Default)]
pub(crate) struct InputOptions {
    pub(crate) key: Option<String>,
    pub(crate) lease: Option<Lease>,
    pub(crate) blobs: Vec<Blob>,
    /// The version that the run must be at; any version if absent.
    pub(crate) expected_version: Option<u64>,
}

/// A decided input that is ready to be stored.
pub(crate) struct PreparedCommit {
    pub(crate) commit: RunCommit,
    pub(crate) next: LiveRun,
    events: Vec<RunEvent>,
}

impl Engine {
    /// Starts a run under a given name. The same key twice starts it once.
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
        let start = RunStart {
            memory_disabled: self.should_skip_memory(&start).await?,
            channels: self.channels().list_subscriptions(self.tenant_name()),
            ..start
        };
        let id = self.run_id(run);
        let blank = LiveRun {
            state: Arc::new(RunState::new(run)),
            hash: GENESIS_HASH.to_owned(),
            protocol: Arc::clone(protocol),
            bytes_since_snapshot: 0,
            snapshot_bytes: 0,
        };
        let input = new_input(InputKind::Start(Box::new(start)), key);
        let span = start_version_span(&id, &input.payload);
        self.decide_and_create(&id, &blank, input).instrument(span).await
    }

    /// Decides the start of a run, and stores the run with its first version.
    async fn decide_and_create(
        &self,
        run: &RunId,
        blank: &LiveRun,
        mut input: RunInput,
    ) -> Result<InputOutcome, EngineError> {
        let decided = self.decide_input(run, blank, &mut input).await?;
        let new = commit_rows::build_new_run(&blank.protocol, &decided.next.state);
        match self.store().create_run(new, decided.commit).await {
            Ok(()) => Ok(self.publish_commit(run, decided.next, decided.events)),
            Err(StoreError::DuplicateKey { .. }) => self.get_run(&run.id).await,
            Err(other) => Err(other.into()),
        }
    }

    /// Stores the files of a protocol once, and returns the instance that all its runs here share.
    async fn pin_protocol(&self, protocol: &Arc<Protocol>) -> Result<Arc<Protocol>, EngineError> {
        if let Some(known) = self.find_cached_protocol(&protocol.digest) {
            return Ok(known);
        }
        let pinned = PinnedProtocol::from_protocol(protocol).to_json();
        self.store().put_protocol(self.tenant(), &protocol.digest, &pinned).await?;
        self.cache_protocol(protocol);
        Ok(Arc::clone(protocol))
    }

    /// Submits an input to a run. The same key twice counts as one input.
    pub async fn submit_input(
        &self,
        run: &str,
        what: impl Into<AttributedInput>,
        key: Option<String>,
    ) -> Result<InputOutcome, EngineError> {
        let run = self.run_id(run);
        let what = memory_recorder::link_build(self, &run, what.into()).await;
        self.submit_with_options(&run, what, InputOptions { key, ..InputOptions::default() }).await
    }

    /// Submits an input on the condition that the run is at version `at`, if one is given. A key
    /// that was used before returns the first outcome, at the version that accepted it; a key that
    /// was used for a different input is an error.
    pub async fn submit_input_if(
        &self,
        run: &str,
        what: impl Into<AttributedInput>,
        key: Option<String>,
        at: Option<u64>,
    ) -> Result<InputOutcome, EngineError> {
        let run = self.run_id(run);
        let what = memory_recorder::link_build(self, &run, what.into()).await;
        if let Some(key) = &key
            && let Some(outcome) =
                self.find_repeated_input(&run.id, key, |kept| *kept == what.payload).await?
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
        what: impl Into<AttributedInput>,
        options: InputOptions,
    ) -> Result<InputOutcome, EngineError> {
        let what = what.into();
        let span = start_version_span(run, &what.payload);
        self.decide_and_append(run, what, options).instrument(span).await
    }

    /// Decides an input and appends the result to the log. If another writer commits first, the
    /// input is decided again.
    async fn decide_and_append(
        &self,
        run: &RunId,
        what: AttributedInput,
        options: InputOptions,
    ) -> Result<InputOutcome, EngineError> {
        let InputOptions { key, lease, blobs, expected_version: at } = options;
        let resumes = matches!(what.payload, InputKind::Resumed { .. });
        let unparked = resumes && self.unpark_run(run).await?;
        let mut input = new_input(what, key);
        let mut superseded = false;
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
                // Another process may have advanced the run, and the input may fit by now.
                Err(_) if self.is_stale(run, &live).await? => {
                    self.evict_run(run);
                    continue;
                }
                // A file that the approval shows changed: the next version of the run asks again,
                // and the rejection then names the new wait.
                Err(InputRejection::SubjectChanged { wait, current, .. })
                    if wait == current && !superseded =>
                {
                    superseded = true;
                    let options = InputOptions::default();
                    let tick = self.decide_and_append(run, InputKind::Ticked.into(), options);
                    drop(Box::pin(tick).await);
                    continue;
                }
                // An input that was accepted before would be rejected now; the key tells the two
                // cases apart.
                Err(_) if self.is_key_used(run, input.idempotency_key.as_deref()).await? => {
                    return Ok(InputOutcome::from_unchanged(&live));
                }
                // Unparking the run was all there was to resume.
                Err(InputRejection::NothingToResume { .. }) if unparked => {
                    return Ok(InputOutcome::from_unchanged(&live));
                }
                Err(rejection) => return Err(rejection.into()),
            };
            (decided.commit.lease, decided.commit.blobs) = (lease.clone(), blobs.clone());
            match self.store().append_commit(decided.commit).await {
                Ok(()) => return Ok(self.publish_commit(run, decided.next, decided.events)),
                Err(StoreError::Conflict { .. }) => {
                    debug!("another writer committed first, deciding again");
                    self.evict_run(run);
                }
                Err(StoreError::DuplicateKey { .. }) => {
                    return Ok(InputOutcome::from_unchanged(&*self.refresh_live_run(run).await?));
                }
                Err(other) => {
                    // It is unknown whether the commit was stored; the next access reads the store
                    // again.
                    self.evict_run(run);
                    return Err(other.into());
                }
            }
        }
        Err(EngineError::Contended { run: run.id.clone() })
    }

    /// Lets workers lease a parked run again. Returns whether it was parked.
    async fn unpark_run(&self, run: &RunId) -> Result<bool, EngineError> {
        match self.store().unpark_run(run, self.clock().now().0).await {
            Err(StoreError::NotFound { .. }) => Ok(false),
            unparked => Ok(unparked?),
        }
    }

    /// Decides an input at the current time.
    pub(crate) async fn decide_input(
        &self,
        run: &RunId,
        live: &LiveRun,
        input: &mut RunInput,
    ) -> Result<PreparedCommit, InputRejection> {
        trace!(input = input.payload.kind(), "deciding the input");
        // A clock that was set back, or that of another machine, does not move the run's time back.
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
        commit.idempotency_key.clone_from(&input.idempotency_key);
        let (version, seq) = (next.state.version, next.state.seq);
        commit.snapshot = next.take_due_snapshot().map(|body| SnapshotRow { version, seq, body });
        Ok(PreparedCommit { commit, next, events: step.events })
    }

    /// Publishes a commit: counts its events, notifies the observer, and caches the run.
    fn publish_commit(&self, run: &RunId, next: LiveRun, events: Vec<RunEvent>) -> InputOutcome {
        report_commit(&next.state, &events);
        Span::current().record("countersign.version", next.state.version);
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

/// Starts the span of one version: an input, its decision and its commit.
fn start_version_span(run: &RunId, what: &InputKind) -> Span {
    info_span!(
        "version",
        countersign.run = run.id,
        countersign.input = what.kind(),
        countersign.version = Empty,
    )
}

/// Creates an input whose time and files are set when it is decided.
pub(crate) fn new_input(what: impl Into<AttributedInput>, key: Option<String>) -> RunInput {
    let AttributedInput { payload, sender } = what.into();
    let (time, files) = (countersign_run::Timestamp::default(), BTreeMap::new());
    let file_digests = BTreeMap::new();
    RunInput { time, idempotency_key: key, sender, files, file_digests, payload }
}
