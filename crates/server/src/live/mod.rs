//! What happens while it happens: runs that change, replies that are being written, the inbox.
//!
//! What is told here is a hint that there is something to read; what is true is read from the store.

mod run_hub;
mod hub_publisher;
mod inbox_log;

pub use hub_publisher::RunHubPublisher;
pub use inbox_log::{InboxChange, InboxLog, InboxRegistry};
pub use run_hub::{RunHub, RunPreview, RunSubscription};
