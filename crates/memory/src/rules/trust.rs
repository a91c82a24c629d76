//! What an origin may be trusted for.

use crate::record::MemoryOrigin;

/// How far an origin is trusted: what a person said outweighs what a tool gave, that what was read,
/// that what a model wrote, that what another memory held.
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

/// Whether a claim from there must show the words that it rests on.
#[must_use]
pub fn needs_quote(origin: MemoryOrigin) -> bool {
    matches!(origin, MemoryOrigin::Model | MemoryOrigin::Web)
}
