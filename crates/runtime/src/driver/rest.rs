//! Why a driver has nothing to do.

use countersign_core::run::{Status, Time};

/// Where a run came to rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// It is over.
    Ended(Status),
    /// A person stopped it.
    Halted,
    /// It waits for people.
    Waiting,
    /// It goes on by itself at this moment.
    Until(Time),
    /// A model is to be asked, and nobody says which: hand the reply in.
    NeedsReply,
    /// It waits for another run.
    Child(String),
    /// Somebody else is working on it.
    Held,
}
