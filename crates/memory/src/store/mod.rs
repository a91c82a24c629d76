//! Where memory is kept: one trait, a reference in memory, `SQLite`, `PostgreSQL`, and the suite all pass.
//!
//! ```text
//! Memory (async, object-safe) ◄── Shared ─┬─ InMemory ───────┐
//!                                         ├─ SqliteMemory ───┼─► Shelves: rows by scope ◄── write, find, carry, audit
//!                                         └─ PostgresMemory ─┘
//! ```
//!
//! What is decided, found, carried and counted is written once, over `Shelves`; a store says
//! only how rows are put and read. *Not here*: composing, rendering, models.

mod memory;
mod error;
mod new_event;
mod limits;
mod kept;
mod build;
mod built;
mod line;
mod whom;
mod audit;
mod misplaced;
mod mark;
mod gone;
mod revised;
mod body;
mod needle;
mod shelves;
mod index;
mod write;
mod candidates;
mod find;
mod answers;
mod session;
mod vectors;
mod shared;
mod material;
mod replay;
mod carry;
mod sweep;
mod ageing;
mod in_memory;
mod sqlite;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "suite")]
pub mod suite;

pub use audit::{Audit, Finding};
pub use build::{Build, BuildRow, RowKind};
pub use built::{RebuildError, packet_digest};
pub use error::MemoryError;
pub use in_memory::InMemory;
pub use kept::Kept;
pub use limits::Limits;
pub use line::{Carried, Imported, Line, Provenance};
pub use memory::{Memory, Reply};
pub use misplaced::Misplaced;
pub use new_event::NewEvent;
#[cfg(feature = "postgres")]
pub use postgres::PostgresMemory;
pub use sqlite::SqliteMemory;
pub use sweep::{Sweep, Swept};
pub use vectors::Unembedded;
pub use whom::{Erased, Trace, Whom};
