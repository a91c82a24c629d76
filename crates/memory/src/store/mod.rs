//! Memory storage: the [`Memory`] trait with an in-memory reference, `SQLite` and `PostgreSQL`, and
//! the test suite that all of them pass.
//!
//! ```text
//! Memory (async) ◄── TransactionalStore ─┬─ EphemeralMemory ─┐
//!                                        ├─ SqliteMemory ────┼─► RowStore: rows by scope
//!                                        └─ PostgresMemory ──┘      ▲
//!                                  write, retrieve, export_import, audit
//! ```
//!
//! Writing, retrieval, export, import and audits are implemented once on top of `RowStore`; a
//! backend only implements how rows are stored and read. This module does not compose or render
//! packets and does not call models.

#![cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    expect(dead_code, reason = "rows are encoded only for a database")
)]

mod memory;
mod memory_error;
mod new_event;
mod retrieval_limits;
mod claim_receipt;
mod build;
mod recompose;
mod export_line;
mod erase_target;
mod audit;
mod scope_violation;
mod tombstone;
mod repair_facts;
mod revisioned_row;
mod expired_rows;
mod row_codec;
mod needle;
mod row_store;
mod term_index;
mod write;
mod claim_candidates;
mod retrieve;
mod event_search;
mod session_events;
mod store_vectors;
mod transactional_store;
mod load_summary_input;
mod replay;
mod export_import;
mod sweep;
mod age_episodes;
mod in_memory;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "suite")]
pub mod suite;

pub use audit::{AuditFinding, MemoryAudit};
pub use build::{BuildRow, BuildRowKind, PacketBuild};
pub use claim_receipt::ClaimReceipt;
pub use erase_target::{EraseReport, EraseTarget, ResidueMatch};
pub use export_line::{ImportTrust, MemoryExportLine, MemoryExportRow, MemoryImportReport};
pub use in_memory::EphemeralMemory;
pub use memory::{
    Memory, MemoryFuture, MemoryMaintenance, MemoryReader, MemoryWriter, PacketBuildStore,
};
pub use memory_error::MemoryError;
pub use new_event::NewMemoryEvent;
#[cfg(feature = "postgres")]
pub use postgres::PostgresMemory;
pub use recompose::{PacketRebuildError, compute_packet_digest};
pub use retrieval_limits::RetrievalLimits;
pub use scope_violation::ScopeViolation;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteMemory;
pub use store_vectors::UnembeddedEvents;
pub use sweep::{SweepOptions, SweepReport};
