//! Wraps a store to count commits, and checks the wrapper with the suite that every store passes.
//!
//! ```sh
//! cargo run -p countersign --example own_store
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use countersign::store::suite::run_store_suite;
use countersign::store::{
    ContentStore, InMemoryStore, LeaseStore, NewRun, RunCommit, RunStore, StoreFuture,
    StoreMaintenance, delegate_store,
};

/// Counts the commits of all stores that share a counter.
struct CountingStore {
    inner: InMemoryStore,
    commits: Arc<AtomicU64>,
}

impl CountingStore {
    fn new(commits: &Arc<AtomicU64>) -> Self {
        Self { inner: InMemoryStore::new(), commits: Arc::clone(commits) }
    }

    /// Counts a commit if the store has kept it.
    fn count_commit<'a>(&'a self, commit: StoreFuture<'a, ()>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            commit.await?;
            self.commits.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
    }
}

impl RunStore for CountingStore {
    fn create_run(&self, run: NewRun, commit: RunCommit) -> StoreFuture<'_, ()> {
        self.count_commit(self.inner.create_run(run, commit))
    }

    fn append_commit(&self, commit: RunCommit) -> StoreFuture<'_, ()> {
        self.count_commit(self.inner.append_commit(commit))
    }

    // All other methods, as in the wrapped store. A store over a database of your own implements
    // them itself.
    delegate_store!(inner: RunStore);
}

impl LeaseStore for CountingStore {
    delegate_store!(inner: LeaseStore);
}

impl ContentStore for CountingStore {
    delegate_store!(inner: ContentStore);
}

impl StoreMaintenance for CountingStore {
    delegate_store!(inner: StoreMaintenance);
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let commits = Arc::new(AtomicU64::new(0));
    // In a test module, `countersign::store::store_suite!` makes a `#[test]` of each case instead.
    let results = run_store_suite(|| Arc::new(CountingStore::new(&commits))).await;
    let failed: Vec<_> = results.iter().filter(|result| result.failure.is_some()).collect();
    for result in &failed {
        println!("FAILED {}: {}", result.name, result.failure.as_deref().unwrap_or_default());
    }
    println!("{} cases, {} failed", results.len(), failed.len());
    println!("{} commits were counted", commits.load(Ordering::Relaxed));
    if failed.is_empty() { Ok(()) } else { Err("the store fails the suite".into()) }
}
