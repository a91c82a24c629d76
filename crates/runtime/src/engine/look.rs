//! Looking at a run: as it is, as it was, and its log. Changes nothing.

use countersign_core::run::{Entry, Time};
use countersign_store::{EntryRow, RunId, Seal};

use super::{Engine, EngineError, Live, Outcome};

/// How many versions are read at once.
const PAGE: usize = 1_024;

impl Engine {
    /// A run as it is now.
    pub async fn look(&self, run: &str) -> Result<Outcome, EngineError> {
        Ok(Outcome::unchanged(&*self.fresh(&self.run_id(run)).await?))
    }

    /// A run as it was at a version, with the hash of that version.
    pub async fn at(&self, run: &str, version: Option<u64>) -> Result<Live, EngineError> {
        let id = self.run_id(run);
        let missing = || EngineError::NoRun { run: run.to_owned(), version };
        let loaded = self.store().load(&id, version).await?.ok_or_else(missing)?;
        if let Some(Seal { at, .. }) = &loaded.head.pruned
            && !loaded.entries.is_empty()
        {
            // A version that others began from has its state; the way to any other is gone.
            return Err(EngineError::Pruned { run: run.to_owned(), at: Time(*at) });
        }
        let protocol = self.protocol(&id, &loaded.head.protocol).await?;
        Live::of(&loaded, protocol)
            .map_err(|source| EngineError::Corrupt { run: run.to_owned(), source: source.into() })
    }

    /// The versions of a run after one, at most so many; none where it has no more.
    pub async fn log_after(
        &self,
        run: &str,
        version: u64,
        most: usize,
    ) -> Result<Vec<Entry>, EngineError> {
        let run = self.run_id(run);
        let rows = self.store().log(&run, version, most).await?;
        if rows.iter().any(|row| row.body.is_empty()) {
            return Err(self.pruned(&run).await?);
        }
        Ok(rows.into_iter().map(entry).collect())
    }

    /// The whole log of a run.
    pub async fn log(&self, run: &str) -> Result<Vec<Entry>, EngineError> {
        let log = self.hashes(run).await?;
        if log.iter().any(|one| one.body.is_empty()) {
            return Err(self.pruned(&self.run_id(run)).await?);
        }
        Ok(log)
    }

    /// The whole log of a run, which has no bodies where the run was pruned.
    pub(crate) async fn hashes(&self, run: &str) -> Result<Vec<Entry>, EngineError> {
        let run = self.run_id(run);
        let mut log: Vec<Entry> = Vec::new();
        loop {
            let after = log.last().map_or(0, |last| last.version);
            let page = self.store().log(&run, after, PAGE).await?;
            let full = page.len() == PAGE;
            log.extend(page.into_iter().map(entry));
            if !full {
                break;
            }
        }
        if log.is_empty() {
            return Err(EngineError::NoRun { run: run.id, version: None });
        }
        Ok(log)
    }

    /// What is told of a run whose bodies are gone.
    pub(super) async fn pruned(&self, run: &RunId) -> Result<EngineError, EngineError> {
        let seal = self.store().head(run).await?.and_then(|head| head.pruned);
        let (run, at) = (run.id.clone(), Time(seal.map_or(0, |seal| seal.at)));
        Ok(EngineError::Pruned { run, at })
    }
}

/// A version as the store has it.
pub(super) fn entry(row: EntryRow) -> Entry {
    let EntryRow { version, first, last, time, hash, body } = row;
    Entry { version, first, last, time: Time(time), hash, body }
}
