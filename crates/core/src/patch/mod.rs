//! Changes of a document: read, checked against authority, applied whole or not at all, undone.
//!
//! ```text
//! RFC 6902 array ── parse ──┐
//!                           ├──► Patch ── Authority::check ──► apply ──► the inverse Patch
//! RFC 7396 object ─ merge ──┘               │                    │
//!                                     Vec<Violation>         PatchError
//! ```
//!
//! There is one form for every change, a list of RFC 6902 operations: authority, inverse and log know
//! no other. Not here: versions, the document's own contract, and who may ask for a change at all.

mod pointer;
mod pointer_set;
mod op;
mod apply;
mod slot;
mod undo;
mod difference;
mod between;
mod error;
mod read;
mod merge;
mod tagged;
mod authority;
mod reach;

pub use apply::Patch;
pub use authority::Authority;
pub use error::PatchError;
pub use op::Op;
pub use pointer::{Pointer, PointerError};
pub(crate) use pointer_set::PointerSet;
