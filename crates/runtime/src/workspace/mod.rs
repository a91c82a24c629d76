//! The workspace: the one folder that runs may touch, held as a capability.
//!
//! A path is followed by the folder's handle and cannot leave it, whatever it says and whatever
//! links lie on the way. Comparing strings only makes the refusal readable.

mod place;
mod error;
mod hidden;
mod atomic;
mod root;
mod list;
mod walk;
mod search;
mod bring;
mod policy;

pub(crate) use atomic::{sync, write_atomic, write_new, write_private, write_swapped};
pub use bring::{IncomingDocument, bring};
pub use error::WorkspaceError;
pub(crate) use error::led_out;
pub(crate) use hidden::Hidden;
pub use list::{Entry, EntryKind, LIST_LIMIT, Listing};
pub use place::PathFault;
pub(crate) use place::Place;
pub use root::{FileContent, READ_LIMIT, Workspace, Written};
pub use search::{Hit, Hits, SearchLimits};
pub(crate) use walk::Walked;
