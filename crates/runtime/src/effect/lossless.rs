//! What somebody else wrote, as JSON, if it is JSON and nothing of it is lost.

use countersign_core::json::{RepairLevel, read};
use serde_json::Value;

/// The value of a text. A key that stands twice or a number that would be rounded makes it none.
pub(super) fn lossless(text: &str) -> Option<Value> {
    read(text, RepairLevel::None)
        .ok()
        .filter(|reading| reading.flaws.is_empty())
        .map(|reading| reading.value)
}
