//! Both memories pass the one suite.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use countersign_memory::memory_suite;
use countersign_memory::store::{EphemeralMemory, Memory, SqliteMemory};
use tempfile::TempDir;

fn memory() -> (Arc<dyn Memory>, ()) {
    (Arc::new(EphemeralMemory::new()), ())
}

fn sqlite() -> (Arc<dyn Memory>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let memory = SqliteMemory::open(folder.path().join("memory.db")).unwrap();
    (Arc::new(memory), folder)
}

memory_suite!(in_memory, memory());
memory_suite!(in_sqlite, sqlite());
