//! Giving a run something: decide, and keep what comes of it in one commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_core::has_credentials;
use countersign_core::protocol::Protocol;
use countersign_core::run::{
    Event, GENESIS, Incoming, Input, Rejection, Start, State, decide, seal,
};
use countersign_store::{Blob, Commit, Lease, NewRun, RunId, SnapshotRow, StoreError};

use super::tally::tally;
use super::{Engine, EngineError, Live, Outcome, Pinned, rows};
use crate::recall;

/// How often an input is decided again when another writer was first.
const TRIES: usize = 64;

/// Something that comes with an input: a key, a lease, bytes it speaks of, the version it was decided on.
#[derive(Debug, Default)]
pub(crate) struct Along {
    pub(crate) key: Option<String>,
    pub(crate) lease: Option<Lease>,
    pub(crate) blobs: Vec<Blob>,
    /// The version it must be taken at, where one is said.
    pub(crate) at: Option<u64>,
}

/// What an input would come to: all that is left is to keep it.
pub(crate) struct Decided {
    pub(crate) commit: Commit,
    pub(crate) next: Live,
    events: Vec<Event>,
}

impl Engine {
    /// Begins a run under a name. The same key twice begins it once.
    pub async fn start(
        &self,
        run: &str,
        protocol: &Arc<Protocol>,
        start: Start,
        key: Option<String>,
    ) -> Result<Outcome, EngineError> {
        if start.model.as_deref().is_some_and(has_credentials) {
            return Err(EngineError::Credentials);
        }
        let protocol = &self.pin(protocol).await?;
        let start = Start { unremembered: self.leaves_no_memory(&start).await?, ..start };
        let id = self.run_id(run);
        let blank = Live {
            state: Arc::new(State::blank(run)),
            hash: GENESIS.to_owned(),
            protocol: Arc::clone(protocol),
            since: 0,
            snapshot: 0,
        };
        let mut input = blank_input(Incoming::Start(Box::new(start)), key);
        let decided = self.decided(&id, &blank, &mut input).await?;
        let new = NewRun {
            protocol: protocol.digest.clone(),
            workflow: decided.next.state.workflow.clone(),
            created_at: decided.next.state.created_at.0,
        };
        match self.store().create(new, decided.commit).await {
            Ok(()) => Ok(self.kept(&id, decided.next, decided.events)),
            Err(StoreError::DuplicateKey { .. }) => self.look(run).await,
            Err(other) => Err(other.into()),
        }
    }

    /// Keeps the files of a protocol, once, and gives the one that all its runs here share.
    async fn pin(&self, protocol: &Arc<Protocol>) -> Result<Arc<Protocol>, EngineError> {
        if let Some(known) = self.pinned(&protocol.digest) {
            return Ok(known);
        }
        let pinned = Pinned::of(protocol).text();
        self.store().put_protocol(self.tenant(), &protocol.digest, &pinned).await?;
        self.remember(protocol);
        Ok(Arc::clone(protocol))
    }

    /// Gives a run an input. The same key twice is one input.
    pub async fn give(
        &self,
        run: &str,
        what: Incoming,
        key: Option<String>,
    ) -> Result<Outcome, EngineError> {
        let run = self.run_id(run);
        let what = recall::linked(self, &run, what).await;
        self.give_along(&run, what, Along { key, ..Along::default() }).await
    }

    /// Gives a run an input that was decided on at a version, where one is said: it is taken at that version
    /// or not at all. A key that was used before gives what it gave then, at the version that took it; one
    /// that was used for another input is told.
    pub async fn give_at(
        &self,
        run: &str,
        what: Incoming,
        key: Option<String>,
        at: Option<u64>,
    ) -> Result<Outcome, EngineError> {
        let run = self.run_id(run);
        let what = recall::linked(self, &run, what).await;
        if let Some(key) = &key
            && let Some(outcome) = self.find_repeated(&run.id, key, |kept| *kept == what).await?
        {
            return Ok(outcome);
        }
        self.give_along(&run, what, Along { key, at, ..Along::default() }).await
    }

    pub(crate) async fn give_along(
        &self,
        run: &RunId,
        what: Incoming,
        along: Along,
    ) -> Result<Outcome, EngineError> {
        let Along { key, lease, blobs, at } = along;
        let resumes = matches!(what, Incoming::Resumed { .. });
        let unparked = resumes && self.unpark(run).await?;
        let mut input = blank_input(what, key);
        for _ in 0..TRIES {
            let live = if at.is_some() { self.fresh(run).await? } else { self.live(run).await? };
            let found = live.state.version;
            if let Some(expected) = at.filter(|expected| *expected != found) {
                return Err(EngineError::Moved { run: run.id.clone(), expected, found });
            }
            let mut decided = match self.decided(run, &live, &mut input).await {
                Ok(decided) => decided,
                // Another process may have gone on, and what was asked of it may fit by now.
                Err(_) if self.is_behind(run, &live).await? => {
                    self.forget(run);
                    continue;
                }
                // What was taken before would be rejected now; a key tells the two apart.
                Err(_) if self.was_taken(run, input.key.as_deref()).await? => {
                    return Ok(Outcome::unchanged(&live));
                }
                // That workers may take it again was all there was to resume.
                Err(Rejection::NothingToResume { .. }) if unparked => {
                    return Ok(Outcome::unchanged(&live));
                }
                Err(rejection) => return Err(rejection.into()),
            };
            (decided.commit.lease, decided.commit.blobs) = (lease.clone(), blobs.clone());
            match self.store().append(decided.commit).await {
                Ok(()) => return Ok(self.kept(run, decided.next, decided.events)),
                Err(StoreError::Conflict { .. }) => self.forget(run),
                Err(StoreError::DuplicateKey { .. }) => {
                    return Ok(Outcome::unchanged(&*self.fresh(run).await?));
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

    /// Lets workers take a run again on which too many of them ended. Whether it was such a one.
    async fn unpark(&self, run: &RunId) -> Result<bool, EngineError> {
        match self.store().unpark(run, self.clock().now().0).await {
            Err(StoreError::NotFound { .. }) => Ok(false),
            unparked => Ok(unparked?),
        }
    }

    /// Decides an input as of now.
    pub(crate) async fn decided(
        &self,
        run: &RunId,
        live: &Live,
        input: &mut Input,
    ) -> Result<Decided, Rejection> {
        // A clock that was set back, or that of another machine, does not turn the run's time back.
        input.time = self.clock().now().max(live.state.updated_at);
        self.see(live, input).await;
        let step = decide(&live.protocol, &live.state, input)?;
        let entry = seal(&live.state, &step.state, &step.events, &live.hash);
        let mut next = Live {
            hash: entry.hash.clone(),
            since: live.since + entry.body.len(),
            snapshot: live.snapshot,
            protocol: Arc::clone(&live.protocol),
            state: Arc::new(step.state),
        };
        let now = self.clock().now().min(input.time);
        let mut commit = rows::commit(run, &live.protocol, &live.state, &next.state, entry, now);
        commit.key.clone_from(&input.key);
        let (version, seq) = (next.state.version, next.state.seq);
        commit.snapshot = next.due().map(|body| SnapshotRow { version, seq, body });
        Ok(Decided { commit, next, events: step.events })
    }

    /// After the commit: everybody may know.
    fn kept(&self, run: &RunId, next: Live, events: Vec<Event>) -> Outcome {
        tally(&events);
        self.watch().committed(&next.state, &events);
        let (state, protocol) = (Arc::clone(&next.state), Arc::clone(&next.protocol));
        self.put(run, Arc::new(next));
        Outcome { state, events, protocol }
    }

    async fn was_taken(&self, run: &RunId, key: Option<&str>) -> Result<bool, EngineError> {
        let Some(key) = key else { return Ok(false) };
        Ok(self.store().keyed(run, key).await?.is_some())
    }
}

/// An input whose time and files are told when it is decided.
pub(crate) fn blank_input(what: Incoming, key: Option<String>) -> Input {
    let (time, files) = (countersign_core::run::Time::default(), BTreeMap::new());
    Input { time, key, files, what }
}
