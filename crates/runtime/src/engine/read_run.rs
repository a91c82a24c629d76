//! Read-only access to a run: its current state, earlier versions, and its log.

use countersign_run::{RunLogEntry, Timestamp};
use countersign_store::{LogEntryRow, PruneSeal, RunId};

use super::{Engine, EngineError, InputOutcome, LiveRun};

/// Number of versions that are read per request to the store.
const LOG_PAGE_SIZE: usize = 1_024;

impl Engine {
    /// Returns the current state of a run.
    pub async fn get_run(&self, run: &str) -> Result<InputOutcome, EngineError> {
        Ok(InputOutcome::from_unchanged(&*self.refresh_live_run(&self.run_id(run)).await?))
    }

    /// Loads a run at a version, with the hash of that version; the newest version if `None`.
    pub async fn load_version(
        &self,
        run: &str,
        version: Option<u64>,
    ) -> Result<LiveRun, EngineError> {
        let id = self.run_id(run);
        let missing = || EngineError::RunNotFound { run: run.to_owned(), version };
        let loaded = self.store().load_run(&id, version).await?.ok_or_else(missing)?;
        if let Some(PruneSeal { pruned_at: at, .. }) = &loaded.head.pruned
            && !loaded.entries.is_empty()
        {
            // A version that other runs were forked from keeps its snapshot; the other versions
            // cannot be reconstructed.
            return Err(EngineError::RunPruned { run: run.to_owned(), pruned_at: Timestamp(*at) });
        }
        let protocol = self.load_protocol(&id, &loaded.head.protocol).await?;
        LiveRun::from_loaded(&loaded, protocol)
            .map_err(|source| EngineError::Corrupt { run: run.to_owned(), source: source.into() })
    }

    /// Returns at most `most` log entries after a version; empty if there are no more.
    pub async fn read_log_after(
        &self,
        run: &str,
        version: u64,
        most: usize,
    ) -> Result<Vec<RunLogEntry>, EngineError> {
        let run = self.run_id(run);
        let rows = self.store().read_log(&run, version, most).await?;
        if rows.iter().any(|row| row.body.is_empty()) {
            return Err(self.build_pruned_error(&run).await?);
        }
        Ok(rows.into_iter().map(row_to_entry).collect())
    }

    /// Returns the whole log of a run. Fails if the run was pruned.
    pub async fn read_log(&self, run: &str) -> Result<Vec<RunLogEntry>, EngineError> {
        let log = self.read_log_hashes(run).await?;
        if log.iter().any(|one| one.body.is_empty()) {
            return Err(self.build_pruned_error(&self.run_id(run)).await?);
        }
        Ok(log)
    }

    /// Returns the whole log of a run; its bodies are empty if the run was pruned.
    pub(crate) async fn read_log_hashes(&self, run: &str) -> Result<Vec<RunLogEntry>, EngineError> {
        let run = self.run_id(run);
        let mut log: Vec<RunLogEntry> = Vec::new();
        loop {
            let after = log.last().map_or(0, |last| last.version);
            let page = self.store().read_log(&run, after, LOG_PAGE_SIZE).await?;
            let full = page.len() == LOG_PAGE_SIZE;
            log.extend(page.into_iter().map(row_to_entry));
            if !full {
                break;
            }
        }
        if log.is_empty() {
            return Err(EngineError::RunNotFound { run: run.id, version: None });
        }
        Ok(log)
    }

    /// Builds the error for a run whose bodies were pruned.
    pub(super) async fn build_pruned_error(&self, run: &RunId) -> Result<EngineError, EngineError> {
        let seal = self.store().load_head(run).await?.and_then(|head| head.pruned);
        let (run, at) = (run.id.clone(), Timestamp(seal.map_or(0, |seal| seal.pruned_at)));
        Ok(EngineError::RunPruned { run, pruned_at: at })
    }
}

/// Converts a row of the store into a log entry.
pub(super) fn row_to_entry(row: LogEntryRow) -> RunLogEntry {
    let LogEntryRow { version, first_seq: first, last_seq: last, time, hash, body } = row;
    RunLogEntry { version, first_seq: first, last_seq: last, time: Timestamp(time), hash, body }
}
