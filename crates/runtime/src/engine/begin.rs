//! Beginning a run under a name that nobody has, or under the one that its key gives.

use std::sync::Arc;

use countersign_core::json::sha256;
use countersign_core::protocol::Protocol;
use countersign_core::run::{Event, Incoming, Start};
use countersign_store::{RunId, StoreError};

use super::look::entry;
use super::{Engine, EngineError, fresh_name};

/// How long a key may be that is a part of a run's name as it is.
const PLAIN: usize = 64;

impl Engine {
    /// Begins a run, and tells its id. The same key names the same run, so that beginning it twice begins it
    /// once; a key that began another one is told.
    pub async fn begin(
        &self,
        protocol: &Arc<Protocol>,
        start: Start,
        key: Option<String>,
    ) -> Result<String, EngineError> {
        loop {
            let name = key.as_deref().map_or_else(fresh_name, keyed_name);
            match self.start(&name, protocol, start.clone(), key.clone()).await {
                Ok(outcome) if outcome.events.is_empty() => {
                    return self.begun(&name, &start).await;
                }
                Ok(outcome) => return Ok(outcome.state.run.clone()),
                Err(EngineError::Store(
                    StoreError::Conflict { .. } | StoreError::DuplicateKey { .. },
                )) if key.is_some() => return self.begun(&name, &start).await,
                Err(EngineError::Store(StoreError::Conflict { .. })) => {}
                Err(other) => return Err(other),
            }
        }
    }

    /// A run that was begun before under the same key, where it was begun with the same.
    async fn begun(&self, name: &str, start: &Start) -> Result<String, EngineError> {
        let first = self.log_after(name, 0, 1).await?;
        let opened = first.iter().map(|one| one.open(name)).collect::<Result<Vec<_>, _>>();
        let events = opened.map_err(|source| EngineError::corrupt(name, source))?.concat();
        let same = events.iter().any(|event| match event {
            Event::Received { input } => match &input.what {
                // The files of the protocol may have changed since, and whether there is a memory; what was
                // asked for is the same.
                Incoming::Start(began) => {
                    let (protocol, unremembered) = (start.protocol.clone(), start.unremembered);
                    Start { protocol, unremembered, ..(**began).clone() } == *start
                }
                _ => false,
            },
            _ => false,
        });
        if same {
            return Ok(name.to_owned());
        }
        Err(EngineError::OtherInput { run: name.to_owned(), version: 1 })
    }

    /// How a run was started; `None` where it is not here, or was pruned and says nothing any more.
    pub(crate) async fn started(&self, run: &RunId) -> Result<Option<Start>, EngineError> {
        let first = self.store().log(run, 0, 1).await?.into_iter().next();
        let Some(row) = first.filter(|row| !row.body.is_empty()) else { return Ok(None) };
        let opened = entry(row).open(&run.id);
        let events = opened.map_err(|source| EngineError::corrupt(run.id.as_str(), source))?;
        Ok(events.into_iter().find_map(|event| match event {
            Event::Received { input } => match input.what {
                Incoming::Start(start) => Some(*start),
                _ => None,
            },
            _ => None,
        }))
    }

    /// Whether a run that starts like this is never remembered: a child as its parent, a fork also where the
    /// run it comes from is not, any other where memory was turned off here.
    pub(super) async fn leaves_no_memory(&self, start: &Start) -> Result<bool, EngineError> {
        let here = start.unremembered || (start.parent.is_none() && self.is_without_memory());
        let parent = start.parent.as_ref().map(|parent| &parent.run);
        let from = parent.or(start.fork.as_ref().map(|fork| &fork.run));
        let Some(from) = from.filter(|_| !here) else { return Ok(here) };
        let from = self.started(&self.run_id(from.as_str())).await?;
        Ok(from.is_some_and(|from| from.unremembered))
    }
}

/// The name of the run that a key begins.
pub(super) fn keyed_name(key: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    if key.len() <= PLAIN && !key.is_empty() && key.chars().all(plain) {
        return format!("key-{key}");
    }
    format!("key-{}", &sha256(&[key.as_bytes()])[..32])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_one_run_whatever_is_in_it() {
        assert_eq!(keyed_name("late"), "key-late");
        assert_eq!(keyed_name("a.b-c_1"), "key-a.b-c_1");
        for odd in ["", "a/b", "ключ", &"x".repeat(65)] {
            let name = keyed_name(odd);
            assert_eq!(name.len(), 36, "{name}");
            assert_eq!(name, keyed_name(odd));
        }
        assert_ne!(keyed_name("a/b"), keyed_name("a/c"));
    }
}
