//! Everything that composing reads, in one place.

use countersign_contracts::memory::meta::PacketPurpose;
use countersign_core::run::Timestamp;

use super::ComposeError;
use super::cues::CueSet;
use super::evidence_index::EvidenceIndex;
use super::insight_guard::InsightGuard;
use super::shorten::shorten;
use crate::policy::{CitationMarkerStyle, InjectionRow, MemoryPolicy};
use crate::record::MemoryExpiry;
use crate::render::{CitationMarkers, REFERENCE_ELLIPSIS};
use crate::tokens::TokenCounter;
use crate::{Candidates, PacketRequest};

/// What composing reads.
pub(super) struct ComposeContext<'a> {
    pub(super) request: &'a PacketRequest,
    pub(super) policy: &'a MemoryPolicy,
    pub(super) candidates: &'a Candidates,
    pub(super) counter: &'a dyn TokenCounter,
    pub(super) row: &'a InjectionRow,
    pub(super) cues: CueSet,
    pub(super) guard: InsightGuard,
    pub(super) evidence_index: EvidenceIndex<'a>,
    pub(super) markers: CitationMarkers<'static>,
}

/// A text in some form.
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
        let (cues, guard) =
            (CueSet::from_request(request)?, InsightGuard::from_candidates(request.purpose, found));
        let evidences = EvidenceIndex::from_candidates(found);
        Ok(Self {
            request,
            policy,
            candidates: found,
            counter,
            row,
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

    /// Whether something of a run may no longer be seen.
    pub(super) fn is_expired(&self, expires: MemoryExpiry, run: &str) -> bool {
        match expires {
            MemoryExpiry::RunEnd => run != self.request.scope.run(),
            MemoryExpiry::At(last) => last < self.now(),
        }
    }

    /// How many of a kind may try.
    pub(super) fn limit_candidates(&self, cap: usize) -> usize {
        cap.min(self.policy.candidates.each)
    }

    /// A text as long as any item may be.
    pub(super) fn fit_to_longest(&self, text: &str) -> FittedText {
        self.fit_text(text, self.policy.longest_item)
    }

    /// A text made short.
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
