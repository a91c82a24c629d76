//! Citation markers: the numbers after a line that refer to its evidence.

use std::collections::BTreeMap;

use countersign_shipped_contracts::memory::report::Citation;

/// The maximum number of markers per line, and the highest marker number. They bound the length of
/// a line, so a line is never longer than it was counted.
const MAX_MARKERS: usize = 3;
const MAX_MARKER_NUMBER: usize = 999;

/// How lines refer to their evidence.
#[derive(Debug, Clone)]
pub(crate) enum CitationMarkers<'a> {
    /// Lines have no markers.
    Off,
    /// Markers of the maximum length, for counting before the numbers are known.
    Widest,
    /// The number of each citation by event id, starting at 1.
    Numbers(BTreeMap<&'a str, usize>),
}

impl<'a> CitationMarkers<'a> {
    /// Numbers these citations in order.
    pub(crate) fn from_citations(citations: &'a [Citation]) -> Self {
        let places = citations.iter().enumerate().take(MAX_MARKER_NUMBER);
        Self::Numbers(places.map(|(place, citation)| (citation.id.as_str(), place + 1)).collect())
    }

    /// Formats the markers after a line with these sources.
    pub(crate) fn format_markers<'s>(
        &self,
        sources: impl IntoIterator<Item = &'s String>,
    ) -> String {
        let mut behind = String::new();
        let numbers = sources.into_iter().take(MAX_MARKERS).filter_map(|source| match self {
            Self::Off => None,
            Self::Widest => Some(MAX_MARKER_NUMBER),
            Self::Numbers(numbers) => numbers.get(source.as_str()).copied(),
        });
        for number in numbers {
            behind.push_str(&format!(" [{number}]"));
        }
        behind
    }
}
