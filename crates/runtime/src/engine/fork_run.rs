//! Forking: a new run that continues from a version of another run.

use std::sync::Arc;

use countersign_protocol::Protocol;
use countersign_run::{ForkOrigin, InputSender, RunStart};

use super::start_run::derive_run_name;
use super::{Engine, EngineError};

/// What a fork changes compared to the original run.
#[derive(Debug, Clone, Default)]
pub struct ForkOptions {
    /// The version to fork from; the newest version if absent.
    pub version: Option<u64>,
    /// Another protocol, to try a changed prompt or contract; the original one if absent.
    pub protocol: Option<Arc<Protocol>>,
    /// Name of another model; the original one if absent.
    pub model: Option<String>,
    /// The actor who forks the run.
    pub by: String,
    /// How the caller knows that actor; `None` if it did not say.
    pub sender: Option<InputSender>,
}

impl Engine {
    /// Starts a run with the document and the phase of another run at a version. Returns the new
    /// run's id and that version.
    pub async fn fork_run(
        &self,
        run: &str,
        otherwise: ForkOptions,
        key: Option<String>,
    ) -> Result<(String, u64), EngineError> {
        let ForkOptions { version: at, protocol, model, by, sender } = otherwise;
        let at = match (at, &key) {
            (None, Some(key)) => self.find_forked_version(run, key).await?,
            (at, _) => at,
        };
        let live = self.load_version(run, at).await?;
        let protocol = protocol.unwrap_or_else(|| Arc::clone(&live.protocol));
        let version = live.state.version;
        let start = RunStart {
            protocol: protocol.digest.clone(),
            workflow: live.state.workflow.clone(),
            document: Some((*live.state.document).clone()),
            phase: Some(live.state.phase.clone()),
            model: model.or_else(|| live.state.model.clone()),
            by: Some(by),
            sender,
            prior_authors: live.state.list_participants(),
            fork: Some(ForkOrigin {
                run: run.to_owned(),
                version,
                hash: live.hash.clone(),
                other_protocol: protocol.digest != live.protocol.digest,
            }),
            title: Some(live.state.title.clone()).filter(|title| !title.is_empty()),
            tickets: live.state.tickets.iter().cloned().collect(),
            ..RunStart::default()
        };
        Ok((self.start_run(&protocol, start, key).await?, version))
    }

    /// Returns the version that an earlier fork with the same key used, because the run may have
    /// advanced since.
    async fn find_forked_version(&self, run: &str, key: &str) -> Result<Option<u64>, EngineError> {
        let started = self.load_start(&self.run_id(derive_run_name(key))).await?;
        let fork = started.and_then(|start| start.fork).filter(|fork| fork.run == run);
        Ok(fork.map(|fork| fork.version))
    }
}
