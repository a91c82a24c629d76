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

mod json_pointer;
mod pointer_set;
mod patch_operation;
mod apply_patch;
mod value_slot;
mod undo_step;
mod value_difference;
mod diff;
mod patch_error;
mod patch_parser;
mod merge_patch;
mod tagged_patch;
mod authority;
mod patch_writes;

pub use apply_patch::Patch;
pub use authority::Authority;
pub use json_pointer::{JsonPointer, JsonPointerError};
pub use patch_error::PatchError;
pub use patch_operation::PatchOperation;
pub(crate) use pointer_set::PointerSet;
