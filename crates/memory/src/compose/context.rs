//! The context of composing: everything it reads, in one struct.

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::meta::PacketPurpose;

use super::ComposeError;
use super::cues::CueSet;
use super::evidence_index::EvidenceIndex;
use super::insight_guard::InsightGuard;
use super::shorten::shorten;
use crate::policy::{CitationMarkerStyle, InjectionRow, MemoryPolicy, limit_quotes};
use crate::record::MemoryExpiry;
use crate::render::{CitationMarkers, REFERENCE_ELLIPSIS};
use crate::tokens::TokenCounter;
use crate::{Candidates, PacketRequest};

/// Everything that composing reads.
pub(super) struct ComposeContext<'a> {
    pub(super) request: &'a PacketRequest,
    pub(super) policy: &'a MemoryPolicy,
    pub(super) candidates: &'a Candidates,
    pub(super) counter: &'a dyn TokenCounter,
    pub(super) row: &'a InjectionRow,
    /// The token budget of the packet.
    pub(super) max_tokens: u64,
    pub(super) cues: CueSet,
    pub(super) guard: InsightGuard,
    pub(super) evidence_index: EvidenceIndex<'a>,
    pub(super) markers: CitationMarkers<'static>,
}

/// A text that was fitted to a length.
pub(super) struct FittedText {
    pub(super) text: String,
    pub(super) is_truncated: bool,
}

impl<'a> ComposeContext<'a> {
    pub(super) fn new(
        request: &'a PacketRequest,
        policy: &'a MemoryPolicy,
        found: &'a Candidates,
        counter: &'a dyn TokenCounter,
    ) -> Result<Self, ComposeError> {
        let marks = match policy.render.evidence {
            CitationMarkerStyle::None => CitationMarkers::Off,
            CitationMarkerStyle::Numbers => CitationMarkers::Widest,
        };
        let row = policy.matrix.row(request.purpose);
        let max_tokens = request.budget.map_or(policy.max_tokens, |asked| asked.max_tokens);
        let (cues, guard) =
            (CueSet::from_request(request)?, InsightGuard::from_candidates(request.purpose, found));
        let evidences = EvidenceIndex::from_candidates(found);
        Ok(Self {
            request,
            policy,
            candidates: found,
            counter,
            row,
            max_tokens,
            cues,
            guard,
            evidence_index: evidences,
            markers: marks,
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.request.as_of
    }

    pub(super) fn is_planner(&self) -> bool {
        self.request.purpose == PacketPurpose::Planner
    }

    /// Returns whether a row of a run is no longer visible.
    pub(super) fn is_expired(&self, expires: MemoryExpiry, run: &str) -> bool {
        match expires {
            MemoryExpiry::RunEnd => run != self.request.scope.run(),
            MemoryExpiry::Until(last) => last < self.now(),
        }
    }

    /// Limits a cap to the maximum number of candidates per kind.
    pub(super) fn limit_candidates(&self, cap: usize) -> usize {
        cap.min(self.policy.candidates.per_kind)
    }

    /// Returns the maximum number of quotes, which follows the budget.
    pub(super) fn limit_quotes(&self) -> usize {
        limit_quotes(self.policy.caps, self.policy.candidates, self.max_tokens)
    }

    /// Fits a text to the maximum length of an item.
    pub(super) fn fit_to_longest(&self, text: &str) -> FittedText {
        self.fit_text(text, self.policy.longest_item)
    }

    /// Fits a text to the length of a shortened item.
    pub(super) fn shorten_item(&self, text: &str) -> FittedText {
        self.fit_text(text, self.policy.short_item)
    }

    fn fit_text(&self, text: &str, most: u64) -> FittedText {
        let text_told =
            shorten(text, most, self.counter).unwrap_or_else(|| REFERENCE_ELLIPSIS.to_owned());
        let cut = text_told != text;
        FittedText { text: text_told, is_truncated: cut }
    }
}
