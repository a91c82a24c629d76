//! How an accepted value changes the document, as the author of a phase wrote it.
//!
//! A change states the intent; the `run` module turns it into a patch against the document at that
//! version.

use countersign_contract::expr::Expr;

use super::FileOrigin;

/// One change of the document.
#[derive(Debug)]
pub struct DocumentChange {
    /// Condition over `state`, `run` and `reply`; always applied if absent.
    pub when: Option<Expr>,
    /// The operation to apply.
    pub operation: ChangeOperation,
    /// Where the file defines the change.
    pub origin: FileOrigin,
}

/// An operation on the document.
#[derive(Debug)]
pub enum ChangeOperation {
    /// Applies a patch from the reply: an RFC 6902 array, or `{ format, ops }`.
    Patch {
        /// Pointer to the patch inside the reply.
        from: String,
        /// Pointers that the patch may write, if they are fewer than the phase may write.
        writes: Option<Vec<String>>,
    },
    /// Merges the value as defined by RFC 7396.
    Merge {
        /// Pointer to merge into.
        pointer: String,
        /// The value to merge; the whole reply if absent.
        value: Option<Expr>,
    },
    /// Sets the value, creating missing parent objects.
    Set {
        /// Pointer to set.
        pointer: String,
        /// The value to set; the whole reply if absent.
        value: Option<Expr>,
    },
    /// Appends the value to a list, creating the list if it is missing.
    Append {
        /// Pointer of the list.
        pointer: String,
        /// The value to append; the whole reply if absent.
        value: Option<Expr>,
    },
    /// Updates the fields of the list item with the same key, or adds a new item.
    Upsert {
        /// Pointer of the list.
        pointer: String,
        /// Field that identifies an item.
        key: String,
        /// One item or a list of items; the whole reply if absent.
        value: Option<Expr>,
    },
    /// Removes the list items with the given keys; without a key, removes the value at the pointer.
    Remove {
        /// Pointer of the list or of the value.
        pointer: String,
        /// Field that identifies an item; absent to remove the value itself.
        key: Option<String>,
        /// One key or a list of keys.
        value: Option<Expr>,
    },
    /// Records an event of the author's in the log and leaves the document unchanged.
    Emit {
        /// Name of the event, in capitals.
        event: String,
        /// Payload of the event; absent if there is none.
        data: Option<Expr>,
    },
}
