//! What Countersign keeps: the log of every run, and the indexes that find a run again.
//!
//! A [`Store`] holds bytes under keys. It does not know what an event means, has no clock (times
//! come from outside, in milliseconds since the epoch) and starts nothing. [`MemoryStore`] is the
//! reference, [`SqliteStore`] the embedded one, `PostgresStore` (feature `postgres`) the one for many
//! machines; all pass one suite (feature `suite`).
//!
//! A run is changed by one call, [`Store::append`]: everything in a [`Commit`] is kept together, or
//! nothing is.
//!
//! ```text
//!             Commit { expected_version, events, actions, waits, head, … }
//!                                     │
//!   append ──► well formed? ──► key new? ──► lease held? ──► version as expected? ──► kept
//!                  │               │             │                  │
//!              Malformed      DuplicateKey     Fenced            Conflict
//! ```

mod store;
mod error;
mod run_id;
mod commit;
mod head;
mod wait;
mod lease;
mod worker;
mod wakes;
mod rounds;
mod prune;
mod well_formed;
mod ruling;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod checksum;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod prefix;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "suite")]
mod faulty;
#[cfg(feature = "suite")]
pub mod suite;

pub use commit::{ActionRow, Blob, Commit, EntryRow, HeadUpdate, NewRun, SnapshotRow};
pub use error::{Cause, StoreError};
#[cfg(feature = "suite")]
pub use faulty::{Fault, FaultyStore, Plan};
pub use head::{Head, Loaded, RunCursor, RunFilter};
pub use lease::{Lease, MAX_WORKER_DEATHS};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{
    Call, Dialogue, LeaseClock, PostgresDatabase, PostgresHealth, PostgresSchema, PostgresSettings,
    PostgresStep, PostgresStore, Purpose, Scope,
};
pub use prune::{Moment, Pruned, Pruning, Seal};
pub use run_id::{RunId, TenantId};
#[cfg(feature = "sqlite")]
pub use sqlite::{
    Health, Migration, RawFile, Schema, Settings, Sought, SqliteFile, SqliteStore, Trees,
};
pub use store::{RESOLVE_LIMIT, Reply, Store};
pub use wait::{WaitCursor, WaitFilter, WaitRow};
pub use wakes::Wakes;
pub use worker::{Taking, Worker, WorkerRow};
