//! Watches an idle run for external changes: a document that it waits for arrived, or another
//! process moved it.
//!
//! Files are polled by size and modification time, which works on every file system. This module
//! reads and consumes nothing; the caller drives the run after a change.

use std::collections::BTreeMap;
use std::time::SystemTime;

use countersign_run::PendingAction;

use super::document_arrival::suggested_path;
use super::driver::Driver;
use crate::engine::EngineError;

/// Interval between two polls, in milliseconds.
const POLL_INTERVAL_MS: i64 = 500;

/// The external conditions that can let a run or its children continue: their versions, and the
/// files where documents are expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSnapshot {
    versions: BTreeMap<String, u64>,
    files: BTreeMap<String, Option<(u64, Option<SystemTime>)>>,
}

impl Driver {
    /// Captures the current versions and files.
    ///
    /// # Errors
    /// If a run cannot be read.
    pub async fn take_change_snapshot(&self, run: &str) -> Result<ChangeSnapshot, EngineError> {
        let mut outlook = ChangeSnapshot { versions: BTreeMap::new(), files: BTreeMap::new() };
        let mut left = vec![run.to_owned()];
        while let Some(run) = left.pop() {
            let (state, protocol) = match self.engine.get_run(&run).await {
                Ok(outcome) => (outcome.state, outcome.protocol),
                // A child that is requested and not yet started.
                Err(EngineError::RunNotFound { .. }) if !outlook.versions.is_empty() => continue,
                Err(other) => return Err(other),
            };
            for wait in state.waits.values() {
                if let Some(path) = suggested_path(wait) {
                    let workspace = self.executor.workspace_for(&protocol, &state);
                    outlook.files.insert(path.to_owned(), workspace.read_file_stamp(path));
                    if let Some((path, stamp)) = self.executor.find_shared_file(&run, wait) {
                        outlook.files.insert(path, Some(stamp));
                    }
                }
            }
            for order in state.pending.values() {
                if let PendingAction::Child { run: child, .. } = order
                    && !outlook.versions.contains_key(child)
                {
                    left.push(child.clone());
                }
            }
            outlook.versions.insert(run, state.version);
        }
        Ok(outlook)
    }

    /// Waits until the snapshot changes and two successive polls agree, so that a file that is
    /// still being written is left alone.
    ///
    /// # Errors
    /// If a run cannot be read.
    pub async fn wait_for_change(
        &self,
        run: &str,
        since: &ChangeSnapshot,
    ) -> Result<(), EngineError> {
        let mut last = None;
        loop {
            let look = self.take_change_snapshot(run).await?;
            if look != *since && last.as_ref() == Some(&look) {
                return Ok(());
            }
            last = Some(look);
            let clock = self.engine.clock();
            clock.sleep_until(clock.now().plus_millis(POLL_INTERVAL_MS)).await;
        }
    }
}
