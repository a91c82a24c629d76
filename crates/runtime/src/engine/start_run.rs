//! Starts a run under an unused name, or under the name derived from its idempotency key.

use std::sync::Arc;

use countersign_contract::json::sha256_hex;
use countersign_protocol::Protocol;
use countersign_run::{ContinuedRun, InputKind, RunEvent, RunStart};
use countersign_store::{RunId, StoreError};

use super::read_run::row_to_entry;
use super::{Engine, EngineError, generate_run_name};

/// Maximum number of generations from a run up to its first ancestor.
const MAX_GENERATIONS: usize = 64;

/// Maximum length in bytes of a key that becomes part of a run's name unchanged.
const MAX_PLAIN_KEY_BYTES: usize = 64;

impl Engine {
    /// Starts a run and returns its id. The same key names the same run, so that starting it twice
    /// starts it once; a key that started a different run is an error.
    pub async fn start_run(
        &self,
        protocol: &Arc<Protocol>,
        start: RunStart,
        key: Option<String>,
    ) -> Result<String, EngineError> {
        if let Err(error) = self.check_models(protocol, &start).await {
            // A key that started a run before names that run, whatever became of its model.
            let Some(name) = key.as_deref().map(derive_run_name) else { return Err(error) };
            return match self.store().load_head(&self.run_id(&*name)).await? {
                Some(_) => self.find_started_run(&name, &start).await,
                None => Err(error),
            };
        }
        loop {
            let name = key.as_deref().map_or_else(generate_run_name, derive_run_name);
            match self.start_named_run(&name, protocol, start.clone(), key.clone()).await {
                Ok(outcome) if outcome.events.is_empty() => {
                    return self.find_started_run(&name, &start).await;
                }
                Ok(outcome) => return Ok(outcome.state.run.clone()),
                Err(EngineError::Store(
                    StoreError::Conflict { .. } | StoreError::DuplicateKey { .. },
                )) if key.is_some() => return self.find_started_run(&name, &start).await,
                Err(EngineError::Store(StoreError::Conflict { .. })) => {}
                Err(other) => return Err(other),
            }
        }
    }

    /// Returns a run that was started before under the same key, if it was started with the same
    /// parameters.
    async fn find_started_run(&self, name: &str, start: &RunStart) -> Result<String, EngineError> {
        let first = self.read_log_after(name, 0, 1).await?;
        let opened = first.iter().map(|one| one.decode_events(name)).collect::<Result<Vec<_>, _>>();
        let events = opened.map_err(|source| EngineError::corrupt(name, source))?.concat();
        let same = events.iter().any(|event| match event {
            RunEvent::InputReceived { input } => match &input.payload {
                // The files of the protocol, the channels, and whether there is a memory, may have
                // changed since; the request is the same.
                InputKind::Start(began) => {
                    let (protocol, unremembered) = (start.protocol.clone(), start.memory_disabled);
                    let channels = start.channels.clone();
                    let began = (**began).clone();
                    RunStart { protocol, memory_disabled: unremembered, channels, ..began }
                        == *start
                }
                _ => false,
            },
            _ => false,
        });
        if same {
            return Ok(name.to_owned());
        }
        Err(EngineError::KeyReused { run: name.to_owned(), version: 1 })
    }

    /// Returns how a run was started, or `None` if the run is not here or was pruned.
    pub(crate) async fn load_start(&self, run: &RunId) -> Result<Option<RunStart>, EngineError> {
        let first = self.store().read_log(run, 0, 1).await?.into_iter().next();
        let Some(row) = first.filter(|row| !row.body.is_empty()) else { return Ok(None) };
        let opened = row_to_entry(row).decode_events(&run.id);
        let events = opened.map_err(|source| EngineError::corrupt(run.id.as_str(), source))?;
        Ok(events.into_iter().find_map(|event| match event {
            RunEvent::InputReceived { input } => match input.payload {
                InputKind::Start(start) => Some(*start),
                _ => None,
            },
            _ => None,
        }))
    }

    /// Returns what a run is started with that continues the conversation of another run. The
    /// conversation has one session, however many runs follow each other.
    pub async fn find_continued_run(&self, run: &str) -> Result<ContinuedRun, EngineError> {
        let missing = || EngineError::RunNotFound { run: run.to_owned(), version: None };
        let id = self.run_id(run);
        let mut start = self.load_start(&id).await?.ok_or_else(missing)?;
        let mut session = run.to_owned();
        for _ in 0..MAX_GENERATIONS {
            let Some(parent) = start.parent.take() else { break };
            session.clone_from(&parent.run);
            let Some(above) = self.load_start(&self.run_id(parent.run)).await? else { break };
            start = above;
        }
        let session = start.continues.map_or(session, |earlier| earlier.session);
        Ok(ContinuedRun { run: run.to_owned(), session })
    }

    /// Returns whether a run that starts like this is never remembered: a child follows its parent,
    /// a fork also follows the run it comes from, and any other run follows the setting of this
    /// engine.
    pub(super) async fn should_skip_memory(&self, start: &RunStart) -> Result<bool, EngineError> {
        let here = start.memory_disabled || (start.parent.is_none() && self.is_memory_disabled());
        let parent = start.parent.as_ref().map(|parent| &parent.run);
        let from = parent.or(start.fork.as_ref().map(|fork| &fork.run));
        let Some(from) = from.filter(|_| !here) else { return Ok(here) };
        let from = self.load_start(&self.run_id(from.as_str())).await?;
        Ok(from.is_some_and(|from| from.memory_disabled))
    }
}

/// Derives the name of the run that a key starts.
pub(super) fn derive_run_name(key: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    if key.len() <= MAX_PLAIN_KEY_BYTES && !key.is_empty() && key.chars().all(plain) {
        return format!("key-{key}");
    }
    format!("key-{}", &sha256_hex(&[key.as_bytes()])[..32])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_one_run_whatever_is_in_it() {
        assert_eq!(derive_run_name("late"), "key-late");
        assert_eq!(derive_run_name("a.b-c_1"), "key-a.b-c_1");
        for odd in ["", "a/b", "ключ", &"x".repeat(65)] {
            let name = derive_run_name(odd);
            assert_eq!(name.len(), 36, "{name}");
            assert_eq!(name, derive_run_name(odd));
        }
        assert_ne!(derive_run_name("a/b"), derive_run_name("a/c"));
    }
}
