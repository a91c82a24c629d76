//! How far each origin is trusted.

use crate::record::MemoryOrigin;

/// Returns the trust level of an origin, in descending order: user, tool or system, web, model,
/// imported.
#[must_use]
pub fn trust_level(origin: MemoryOrigin) -> u8 {
    match origin {
        MemoryOrigin::User => 4,
        MemoryOrigin::Tool | MemoryOrigin::System => 3,
        MemoryOrigin::Web => 2,
        MemoryOrigin::Model => 1,
        MemoryOrigin::Imported => 0,
    }
}

/// Returns whether a claim of this origin must quote its evidence.
#[must_use]
pub fn needs_quote(origin: MemoryOrigin) -> bool {
    matches!(origin, MemoryOrigin::Model | MemoryOrigin::Web)
}
