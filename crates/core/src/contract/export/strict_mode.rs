//! What each provider's strict mode takes: data, dated, in `vendors.json`.
//!
//! Where sources disagree the table holds the stricter reading, and says what was contested.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The restrictions of one provider.
#[derive(Debug, Deserialize)]
pub(super) struct StrictModeProfile {
    /// When this was read.
    pub(super) as_of: String,
    /// Points on which sources disagree, for whoever reads the table next.
    pub(super) contested: Vec<String>,
    /// The keywords it takes beyond types, objects, lists, `enum`, `anyOf` and references.
    pub(super) keywords: Vec<String>,
    /// The formats it takes.
    pub(super) formats: Vec<String>,
    /// Whether every object must forbid undeclared fields.
    pub(super) closed_objects: bool,
    /// Whether every field must be required.
    pub(super) all_required: bool,
    /// Whether a definition may refer to itself.
    pub(super) recursion: bool,
    /// The largest `minItems` it takes.
    pub(super) min_items_at_most: Option<u64>,
    /// How large a schema may be.
    pub(super) limits: StrictModeLimits,
}

/// How large a schema may be; none where no number is known.
#[derive(Debug, Deserialize)]
pub(super) struct StrictModeLimits {
    pub(super) properties: Option<usize>,
    pub(super) depth: Option<usize>,
    pub(super) enum_values: Option<usize>,
}

static PROFILES: LazyLock<BTreeMap<String, StrictModeProfile>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("vendors.json")).expect("our own table is JSON of this shape")
});

/// The table of all providers.
pub(super) fn strict_mode_profiles() -> &'static BTreeMap<String, StrictModeProfile> {
    &PROFILES
}

impl StrictModeProfile {
    /// Whether a keyword may be sent with what it says.
    pub(super) fn accepts_keyword(&self, keyword: &str, said: &serde_json::Value) -> bool {
        if !self.keywords.iter().any(|known| known == keyword) {
            return false;
        }
        match keyword {
            "format" => {
                said.as_str().is_some_and(|format| self.formats.iter().any(|known| known == format))
            }
            "minItems" => self
                .min_items_at_most
                .is_none_or(|most| said.as_u64().is_some_and(|least| least <= most)),
            // Look-around begins with these.
            "pattern" => said.as_str().is_some_and(|pattern| {
                !pattern.contains("(?=") && !pattern.contains("(?!") && !pattern.contains("(?<")
            }),
            _ => true,
        }
    }
}
