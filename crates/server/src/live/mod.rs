//! Live notifications: runs that change, replies that are being written, and the inbox.
//!
//! A notification only tells that there is something new to read; the data comes from the store.

mod run_hub;
mod hub_publisher;
mod inbox_log;

pub use hub_publisher::RunHubPublisher;
pub use inbox_log::{InboxChange, InboxLog, InboxRegistry};
pub use run_hub::{RunHub, RunPreview, RunSubscription};
