//! Numbers behind lines that name their evidence.

use std::collections::BTreeMap;

use countersign_contracts::memory::report::Citation;

/// The most numbers behind one line, and the highest number: beyond, a line is as long as is counted.
const MAX_MARKERS: usize = 3;
const MAX_MARKER_NUMBER: usize = 999;

/// How lines name their evidence.
#[derive(Debug, Clone)]
pub(crate) enum CitationMarkers<'a> {
    /// Not at all.
    Off,
    /// As long as it can get: for counting, when the numbers are not known yet.
    Widest,
    /// By the place of the citation, from 1.
    Numbers(BTreeMap<&'a str, usize>),
}

impl<'a> CitationMarkers<'a> {
    /// The numbers of these citations.
    pub(crate) fn from_citations(citations: &'a [Citation]) -> Self {
        let places = citations.iter().enumerate().take(MAX_MARKER_NUMBER);
        Self::Numbers(places.map(|(place, citation)| (citation.id.as_str(), place + 1)).collect())
    }

    /// What stands behind a line with these sources.
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
