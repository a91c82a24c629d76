//! Changes to a JSON document: parse a patch, check it against an authority, apply it as a whole or
//! not at all, and undo it.
//!
//! ```text
//! RFC 6902 array ── parse ──┐
//!                           ├──► Patch ── Authority::check ──► apply ──► the inverse Patch
//! RFC 7396 object ─ merge ──┘               │                    │
//!                                     Vec<Violation>         PatchError
//! ```
//!
//! Every change has one form, a list of RFC 6902 operations, so the authority check, the inverse
//! and the log handle no other form. This module does not handle document versions, the document's
//! own contract, or who may request a change.

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
pub use pointer_set::PointerSet;
