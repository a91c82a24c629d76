//! What an origin may be trusted for.

use crate::record::Origin;

/// How far an origin is trusted: what a person said outweighs what a tool gave, that what was read,
/// that what a model wrote, that what another memory held.
#[must_use]
pub fn trust(origin: Origin) -> u8 {
    match origin {
        Origin::User => 4,
        Origin::Tool | Origin::System => 3,
        Origin::Web => 2,
        Origin::Model => 1,
        Origin::Imported => 0,
    }
}

/// Whether a claim from there must show the words that it rests on.
#[must_use]
pub fn needs_quote(origin: Origin) -> bool {
    matches!(origin, Origin::Model | Origin::Web)
}
