//! What somebody else wrote, as JSON, if it is JSON and nothing of it is lost.

use countersign_core::json::{RepairLevel, parse_json};
use serde_json::Value;

/// The value of a text. A key that stands twice or a number that would be rounded makes it none.
pub(super) fn parse_lossless(text: &str) -> Option<Value> {
    parse_json(text, RepairLevel::None)
        .ok()
        .filter(|reading| reading.data_losses.is_empty())
        .map(|reading| reading.value)
}
