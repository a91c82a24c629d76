//! What happens while it happens: runs that change, replies that are being written, the inbox.
//!
//! What is told here is a hint that there is something to read; what is true is read from the store.

mod hub;
mod told;
mod inbox;

pub use hub::{Glimpse, Hub, Watched};
pub use inbox::{Change, InboxLog, Inboxes};
pub use told::Told;
