//! A conversation in a memory of its own, which is asked as a run asks it.

use countersign_memory::Candidates;
use countersign_memory::policy::MemoryPolicy;
use countersign_memory::record::MemoryEvent;
use countersign_memory::store::{
    MemoryError, MemoryReader as _, MemoryWriter as _, NewMemoryEvent, RetrievalLimits,
    SqliteMemory,
};
use tempfile::TempDir;
use thiserror::Error;
use tokio::runtime::Runtime;

use super::packet_composer::build_request;

/// The number of events to store at once.
const BATCH_SIZE: usize = 1_000;

/// Why a conversation could not be stored.
#[derive(Debug, Error)]
pub(crate) enum StoreConversationError {
    /// The memory refused it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// No folder could be made for it.
    #[error("cannot make a folder for a conversation: {0}")]
    Folder(#[from] std::io::Error),
}

/// A stored conversation.
pub(crate) struct StoredConversation<'r> {
    runtime: &'r Runtime,
    memory: SqliteMemory,
    limits: RetrievalLimits,
    last: Option<MemoryEvent>,
    /// Removed with the value.
    _folder: TempDir,
}

impl<'r> StoredConversation<'r> {
    /// Stores a conversation in a file.
    pub(crate) fn store(
        runtime: &'r Runtime,
        events: &[MemoryEvent],
        policy: &MemoryPolicy,
    ) -> Result<Self, StoreConversationError> {
        let folder = tempfile::tempdir()?;
        let memory = SqliteMemory::open(folder.path().join("memory.db"))?;
        for some in events.chunks(BATCH_SIZE) {
            let new = some.iter().cloned().map(NewMemoryEvent::from).collect();
            runtime.block_on(memory.append_events(new))?;
        }
        let limits = RetrievalLimits::from_policy(policy);
        Ok(Self { runtime, memory, limits, last: events.last().cloned(), _folder: folder })
    }

    /// Retrieves what a packet of this budget may contain.
    pub(crate) fn retrieve(&self, question: &str, budget: u64) -> Result<Candidates, MemoryError> {
        let Some(last) = &self.last else { return Ok(Candidates::default()) };
        let request = build_request(last, question, Some(budget));
        self.runtime.block_on(self.memory.retrieve_candidates(&request, self.limits))
    }
}
