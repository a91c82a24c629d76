//! Looking out while a run rests: has somebody brought a document that it waits for, or moved it otherwise?
//!
//! Files are looked at by their size and time, again and again: that works on every file system. Nothing is read
//! or taken here; whoever sees a change has the run driven.

use std::collections::BTreeMap;
use std::time::SystemTime;

use countersign_core::run::Pending;

use super::body::Driver;
use super::documents::suggested;
use crate::engine::EngineError;

/// How long is waited between two looks, in milliseconds.
const PAUSE: i64 = 500;

/// What can let a run go on from outside, its children included: their versions, and the files where documents
/// are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    versions: BTreeMap<String, u64>,
    files: BTreeMap<String, Option<(u64, Option<SystemTime>)>>,
}

impl Driver {
    /// How things look now.
    ///
    /// # Errors
    /// Where a run cannot be read.
    pub async fn outlook(&self, run: &str) -> Result<Outlook, EngineError> {
        let mut outlook = Outlook { versions: BTreeMap::new(), files: BTreeMap::new() };
        let mut left = vec![run.to_owned()];
        while let Some(run) = left.pop() {
            let (state, protocol) = match self.engine.look(&run).await {
                Ok(outcome) => (outcome.state, outcome.protocol),
                // A child that is ordered and not yet begun.
                Err(EngineError::NoRun { .. }) if !outlook.versions.is_empty() => continue,
                Err(other) => return Err(other),
            };
            for wait in state.waits.values() {
                if let Some(path) = suggested(wait) {
                    let workspace = self.hands.workspace(&protocol);
                    outlook.files.insert(path.to_owned(), workspace.stamp(path));
                }
            }
            for order in state.pending.values() {
                if let Pending::Child { run: child, .. } = order
                    && !outlook.versions.contains_key(child)
                {
                    left.push(child.clone());
                }
            }
            outlook.versions.insert(run, state.version);
        }
        Ok(outlook)
    }

    /// Waits until things look otherwise, and two looks in a row agree on how: a file that is still being
    /// written is left alone.
    ///
    /// # Errors
    /// Where a run cannot be read.
    pub async fn changed(&self, run: &str, since: &Outlook) -> Result<(), EngineError> {
        let mut last = None;
        loop {
            let look = self.outlook(run).await?;
            if look != *since && last.as_ref() == Some(&look) {
                return Ok(());
            }
            last = Some(look);
            let clock = self.engine.clock();
            clock.until(clock.now().after(PAUSE)).await;
        }
    }
}
