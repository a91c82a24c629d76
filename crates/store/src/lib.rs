//! Durable storage for runs: the log of every run, and the indexes that find a run again.
//!
//! A [`Store`] keeps bytes under keys. It does not interpret events, has no clock (callers pass
//! times in milliseconds since the Unix epoch) and starts no background work of its own.
//! [`InMemoryStore`] is the reference implementation, [`SqliteStore`] the embedded one, and
//! `PostgresStore` (feature `postgres`) serves many machines; all pass the same test suite (feature
//! `suite`).
//!
//! One call changes a run, [`RunStore::append_commit`]: it keeps everything in a [`RunCommit`], or
//! nothing.
//!
//! ```text
//!             RunCommit { expected_version, entry, actions, waits, head, … }
//!                                     │
//!   append ──► well formed? ──► key new? ──► lease held? ──► version as expected? ──► kept
//!                  │               │             │                  │
//!              Malformed      DuplicateKey     Fenced            Conflict
//! ```

mod store;
mod delegate_store;
mod error;
mod run_id;
mod commit;
mod run_head;
mod run_stats;
mod wait;
mod lease;
mod worker;
mod wake;
mod round_robin;
mod prune;
mod validation;
mod stored_run_state;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod checksum;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod prefix;
mod in_memory;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "suite")]
mod faulty_store;
#[cfg(feature = "suite")]
pub mod suite;

pub use commit::{
    ActionRow, Blob, LogEntryRow, MAX_SEARCH_TERM_BYTES, MAX_SEARCH_TERMS, NewRun, RunCommit,
    RunHeadUpdate, SnapshotRow,
};
pub use error::{SharedError, StoreError};
#[cfg(feature = "suite")]
pub use faulty_store::{FaultPlan, FaultyStore, InjectedFault};
pub use in_memory::InMemoryStore;
pub use lease::{Lease, MAX_WORKER_DEATHS};
#[cfg(feature = "postgres")]
pub use postgres::{
    LeaseClock, PgTransaction, PgTransactionMode, PostgresDatabase, PostgresHealth,
    PostgresMigration, PostgresSchema, PostgresSettings, PostgresStore, SqlStatement, TenantScope,
};
pub use prune::{PruneRequest, PruneSeal, PruneStats, StoreWatermark};
pub use run_head::{ChildRunFilter, LoadedRun, RunCursor, RunFilter, RunHead};
pub use run_id::{RunId, TenantId};
pub use run_stats::{
    MAX_STATS_RUNS, RunDayTotals, RunStats, RunStatsFilter, RunStatsRow, RunTotals,
};
#[cfg(feature = "sqlite")]
pub use sqlite::{
    RawFile, SqliteFile, SqliteHealth, SqliteMigration, SqliteSchema, SqliteSettings, SqliteStore,
};
pub use store::{
    ContentStore, LeaseStore, RESOLVE_LIMIT, RunStore, Store, StoreFuture, StoreMaintenance,
};
pub use wait::{WaitCursor, WaitFilter, WaitRow};
pub use wake::{WakeListener, WakeNotifier};
pub use worker::{DueRunsRequest, WorkerInfo, WorkerRow};

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
