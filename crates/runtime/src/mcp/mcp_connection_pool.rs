//! The connections that runs use: one per run and server, so that no run sees the state that another
//! left in a server.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_protocol::McpServerDefinition;
use tokio::sync::Mutex as AsyncMutex;

use super::McpConnection;
use crate::effect::EffectError;

/// Maximum number of connections that one driver keeps open. The oldest is closed first.
const MAX_CONNECTIONS: usize = 32;

/// The open connections of one driver.
#[derive(Debug, Default)]
pub(crate) struct McpConnectionPool {
    entries: Mutex<Vec<PoolEntry>>,
}

#[derive(Debug)]
struct PoolEntry {
    run: String,
    server: String,
    definition: McpServerDefinition,
    slot: ConnectionSlot,
}

/// A place for one connection; empty until it is opened, or after it failed.
type ConnectionSlot = Arc<AsyncMutex<Option<McpConnection>>>;

impl McpConnectionPool {
    /// Uses the connection of a run to a server, and opens it if needed. A connection that fails is
    /// closed; the next use opens another.
    pub(crate) async fn with_connection<T>(
        &self,
        run: &str,
        server: &str,
        definition: &McpServerDefinition,
        folder: &Path,
        work: impl AsyncFnOnce(&mut McpConnection) -> Result<T, EffectError>,
    ) -> Result<T, EffectError> {
        let slot = self.find_slot(run, server, definition);
        let mut slot = slot.lock().await;
        // A use that is dropped half-way leaves the slot empty, which closes the connection.
        let mut connection = match slot.take().filter(McpConnection::is_open) {
            Some(open) => open,
            None => McpConnection::connect(server, definition, folder).await?,
        };
        let done = work(&mut connection).await;
        let is_usable = done.as_ref().err().is_none_or(|error| !error.retryable);
        *slot = Some(connection).filter(|connection| is_usable && connection.is_open());
        done
    }

    /// Closes the connections of a run.
    pub(crate) fn close_run(&self, run: &str) {
        let closed: Vec<PoolEntry> = {
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            let (closed, kept) = entries.drain(..).partition(|entry| entry.run == run);
            *entries = kept;
            closed
        };
        drop(closed);
    }

    fn find_slot(
        &self,
        run: &str,
        server: &str,
        definition: &McpServerDefinition,
    ) -> ConnectionSlot {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |entry: &&PoolEntry| {
            entry.run == run && entry.server == server && entry.definition == *definition
        };
        if let Some(entry) = entries.iter().find(is_same) {
            return Arc::clone(&entry.slot);
        }
        if entries.len() >= MAX_CONNECTIONS {
            drop(entries.remove(0));
        }
        let slot = ConnectionSlot::default();
        let (run, server) = (run.to_owned(), server.to_owned());
        let definition = definition.clone();
        entries.push(PoolEntry { run, server, definition, slot: Arc::clone(&slot) });
        slot
    }
}
