//! Parses text from other systems as JSON if nothing is lost.

use countersign_contract::json::{RepairLevel, parse_json};
use serde_json::Value;

/// Returns the value of a text, or `None` if it is not JSON, has a duplicate key, or has a number
/// that would be rounded.
pub(super) fn parse_lossless(text: &str) -> Option<Value> {
    parse_json(text, RepairLevel::None)
        .ok()
        .filter(|reading| reading.data_losses.is_empty())
        .map(|reading| reading.value)
}
