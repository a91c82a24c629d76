//! How an accepted value changes the document, as the author of a phase wrote it.
//!
//! A change says what is meant; `run` turns it into a patch against the document of that moment.

use super::FileOrigin;
use crate::expr::Expr;

/// One change.
#[derive(Debug)]
pub struct DocumentChange {
    /// Made only where this holds, over `state`, `run` and `reply`.
    pub when: Option<Expr>,
    /// What is done.
    pub operation: ChangeOperation,
    /// Where it was said.
    pub origin: FileOrigin,
}

/// What is done.
#[derive(Debug)]
pub enum ChangeOperation {
    /// The reply brings a patch: an RFC 6902 array, or `{ format, ops }`.
    Patch {
        /// Where in the reply it stands.
        from: String,
        /// What it may change, where that is less than what the phase may.
        writes: Option<Vec<String>>,
    },
    /// The value is merged in, as RFC 7396 says.
    Merge {
        /// Into what.
        at: String,
        /// What; the whole reply when absent.
        value: Option<Expr>,
    },
    /// The value is put there; what holds it is made where it is missing.
    Set {
        /// Where.
        at: String,
        /// What; the whole reply when absent.
        value: Option<Expr>,
    },
    /// The value becomes the last of a list, which is made where it is missing.
    Append {
        /// Which list.
        at: String,
        /// What; the whole reply when absent.
        value: Option<Expr>,
    },
    /// Each value replaces the fields of the item with its key, or becomes a new item.
    Upsert {
        /// Which list.
        at: String,
        /// The field that tells items apart.
        key: String,
        /// One item or a list of them; the whole reply when absent.
        value: Option<Expr>,
    },
    /// The items with these keys go; without a key, the place itself goes.
    Remove {
        /// Which list, or which place.
        at: String,
        /// The field that tells items apart.
        key: Option<String>,
        /// One key or a list of them.
        value: Option<Expr>,
    },
    /// The log gets an event of the author's; the document stays as it is.
    Emit {
        /// Its name, in capitals.
        event: String,
        /// What it says.
        data: Option<Expr>,
    },
}
