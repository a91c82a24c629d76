//! Where an export goes.

use super::strict_mode::{self, StrictModeProfile};

/// A provider's strict mode, or a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportTarget {
    /// OpenAI's structured outputs with `strict: true`.
    OpenAi,
    /// Anthropic's structured outputs.
    Anthropic,
    /// Gemini's `responseJsonSchema`.
    Gemini,
    /// A GBNF grammar as llama.cpp takes it.
    Grammar,
}

impl ExportTarget {
    /// Every target.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Grammar];

    /// Reads a target by its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.as_str() == name)
    }

    /// The name a user types.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Grammar => "grammar",
        }
    }

    /// When the table of this provider's restrictions was last read; none for the grammar, which has no vendor.
    #[must_use]
    pub fn as_of(self) -> Option<&'static str> {
        self.profile().map(|vendor| vendor.as_of.as_str())
    }

    /// The points on which sources about this provider disagree, and what was made of each.
    #[must_use]
    pub fn contested_points(self) -> &'static [String] {
        self.profile().map(|vendor| vendor.contested.as_slice()).unwrap_or_default()
    }

    pub(super) fn profile(self) -> Option<&'static StrictModeProfile> {
        strict_mode::strict_mode_profiles().get(self.as_str())
    }
}
