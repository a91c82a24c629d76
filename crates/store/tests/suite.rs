//! Both stores pass the one suite, and so does a wrapper that is told to fail nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use countersign_store::{FaultPlan, FaultyStore, InMemoryStore, SqliteStore, Store, store_suite};
use tempfile::TempDir;

fn memory() -> (Arc<dyn Store>, ()) {
    (Arc::new(InMemoryStore::new()), ())
}

fn sqlite() -> (Arc<dyn Store>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("runs.db")).unwrap();
    (Arc::new(store), folder)
}

fn wrapped() -> (Arc<dyn Store>, ()) {
    (Arc::new(FaultyStore::new(memory().0, FaultPlan::NoFaults)), ())
}

store_suite!(in_memory, memory());
store_suite!(in_sqlite, sqlite());
store_suite!(in_a_wrapper, wrapped());
