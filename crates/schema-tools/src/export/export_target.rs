//! The targets of an export.

use super::strict_mode::{self, StrictModeProfile};

/// A provider's strict mode, or a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportTarget {
    /// OpenAI structured outputs with `strict: true`.
    OpenAi,
    /// Anthropic structured outputs.
    Anthropic,
    /// Gemini structured outputs, by `responseJsonSchema`.
    Gemini,
    /// A GBNF grammar as llama.cpp accepts it.
    Grammar,
}

impl ExportTarget {
    /// Every target, in the order of the declaration.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Grammar];

    /// Parses a target name, or returns `None` for another name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.as_str() == name)
    }

    /// Returns the name that users type.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Grammar => "grammar",
        }
    }

    /// Returns the date at which the table of this provider's restrictions was last checked; `None`
    /// for the grammar, which has no provider.
    #[must_use]
    pub fn as_of(self) -> Option<&'static str> {
        self.profile().map(|vendor| vendor.as_of.as_str())
    }

    /// Returns the points on which sources about this provider disagree, each with the reading that
    /// was chosen.
    #[must_use]
    pub fn contested_points(self) -> &'static [String] {
        self.profile().map(|vendor| vendor.contested.as_slice()).unwrap_or_default()
    }

    pub(super) fn profile(self) -> Option<&'static StrictModeProfile> {
        strict_mode::strict_mode_profiles().get(self.as_str())
    }
}
