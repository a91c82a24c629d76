//! The restrictions of each provider's strict mode, as dated data in `strict_modes.json`.
//!
//! Where sources disagree, the table holds the stricter reading and lists the point as contested.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The restrictions of one provider.
#[derive(Debug, Deserialize)]
pub(super) struct StrictModeProfile {
    /// The date at which the restrictions were last checked.
    pub(super) as_of: String,
    /// Points on which sources disagree, for the next person who updates the table.
    pub(super) contested: Vec<String>,
    /// The accepted keywords, in addition to types, objects, arrays, `enum`, `anyOf` and
    /// references.
    pub(super) keywords: Vec<String>,
    /// The accepted values of `format`.
    pub(super) formats: Vec<String>,
    /// Whether every object must forbid undeclared fields.
    pub(super) closed_objects: bool,
    /// Whether every field must be required.
    pub(super) all_required: bool,
    /// Whether a definition may be recursive.
    pub(super) recursion: bool,
    /// The largest accepted `minItems`; absent if there is no limit.
    pub(super) min_items_at_most: Option<u64>,
    /// The size limits of a schema.
    pub(super) limits: StrictModeLimits,
}

/// The size limits of a schema; a limit is absent if no number is known.
#[derive(Debug, Deserialize)]
pub(super) struct StrictModeLimits {
    pub(super) properties: Option<usize>,
    pub(super) depth: Option<usize>,
    pub(super) enum_values: Option<usize>,
}

static PROFILES: LazyLock<BTreeMap<String, StrictModeProfile>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("strict_modes.json"))
        .expect("the built-in table is JSON of this shape")
});

/// Returns the profiles of all providers by target name.
pub(super) fn strict_mode_profiles() -> &'static BTreeMap<String, StrictModeProfile> {
    &PROFILES
}

impl StrictModeProfile {
    /// Returns whether the provider accepts a keyword with this value.
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
            // Look-around groups begin with these.
            "pattern" => said.as_str().is_some_and(|pattern| {
                !pattern.contains("(?=") && !pattern.contains("(?!") && !pattern.contains("(?<")
            }),
            _ => true,
        }
    }
}
