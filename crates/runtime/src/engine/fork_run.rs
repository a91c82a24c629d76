//! Forking: a new run that begins where another stood.

use std::sync::Arc;

use countersign_core::protocol::Protocol;
use countersign_core::run::{ForkOrigin, RunStart};

use super::start_run::derive_run_name;
use super::{Engine, EngineError};

/// What a fork does otherwise than the run it comes from.
#[derive(Debug, Clone, Default)]
pub struct ForkOptions {
    /// The version it goes on from; the newest where absent.
    pub version: Option<u64>,
    /// Another protocol, so that a changed prompt or contract can be tried.
    pub protocol: Option<Arc<Protocol>>,
    /// Another model.
    pub model: Option<String>,
    /// Who forks it.
    pub by: String,
}

impl Engine {
    /// Begins a run with the document and the phase of another at a version. Tells its id and that version.
    pub async fn fork_run(
        &self,
        run: &str,
        otherwise: ForkOptions,
        key: Option<String>,
    ) -> Result<(String, u64), EngineError> {
        let ForkOptions { version: at, protocol, model, by } = otherwise;
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
            fork: Some(ForkOrigin { run: run.to_owned(), version, hash: live.hash.clone() }),
            tickets: live.state.tickets.iter().cloned().collect(),
            ..RunStart::default()
        };
        Ok((self.start_run(&protocol, start, key).await?, version))
    }

    /// The version that a key forked a run at before: the run may have gone on since.
    async fn find_forked_version(&self, run: &str, key: &str) -> Result<Option<u64>, EngineError> {
        let started = self.load_start(&self.run_id(derive_run_name(key))).await?;
        let fork = started.and_then(|start| start.fork).filter(|fork| fork.run == run);
        Ok(fork.map(|fork| fork.version))
    }
}
