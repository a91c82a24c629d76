//! Everything that composing reads, in one place.

use countersign_contracts::memory::meta::Purpose;
use countersign_core::run::Time;

use super::ComposeError;
use super::cues::CueSet;
use super::evidence::Evidences;
use super::guard::Guard;
use super::shorten::shorten;
use crate::policy::{EvidenceMarks, MatrixRow, Policy};
use crate::record::Expiry;
use crate::render::{Marks, REF};
use crate::tokens::TokenCounter;
use crate::{Found, Request};

/// What composing reads.
pub(super) struct Context<'a> {
    pub(super) request: &'a Request,
    pub(super) policy: &'a Policy,
    pub(super) found: &'a Found,
    pub(super) counter: &'a dyn TokenCounter,
    pub(super) row: &'a MatrixRow,
    pub(super) cues: CueSet,
    pub(super) guard: Guard,
    pub(super) evidences: Evidences<'a>,
    pub(super) marks: Marks<'static>,
}

/// A text in some form.
pub(super) struct Told {
    pub(super) text: String,
    pub(super) cut: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        request: &'a Request,
        policy: &'a Policy,
        found: &'a Found,
        counter: &'a dyn TokenCounter,
    ) -> Result<Self, ComposeError> {
        let marks = match policy.render.evidence {
            EvidenceMarks::None => Marks::Off,
            EvidenceMarks::Numbers => Marks::Widest,
        };
        let row = policy.matrix.row(request.purpose);
        let (cues, guard) = (CueSet::of(request)?, Guard::of(request.purpose, found));
        let evidences = Evidences::of(found);
        Ok(Self { request, policy, found, counter, row, cues, guard, evidences, marks })
    }

    pub(super) fn now(&self) -> Time {
        self.request.as_of
    }

    pub(super) fn is_planner(&self) -> bool {
        self.request.purpose == Purpose::Planner
    }

    /// Whether something of a run may no longer be seen.
    pub(super) fn is_over(&self, expires: Expiry, run: &str) -> bool {
        match expires {
            Expiry::RunEnd => run != self.request.scope.run(),
            Expiry::At(last) => last < self.now(),
        }
    }

    /// How many of a kind may try.
    pub(super) fn most(&self, cap: usize) -> usize {
        cap.min(self.policy.candidates.each)
    }

    /// A text as long as any item may be.
    pub(super) fn whole(&self, text: &str) -> Told {
        self.told(text, self.policy.longest_item)
    }

    /// A text made short.
    pub(super) fn short(&self, text: &str) -> Told {
        self.told(text, self.policy.short_item)
    }

    fn told(&self, text: &str, most: u64) -> Told {
        let text_told = shorten(text, most, self.counter).unwrap_or_else(|| REF.to_owned());
        let cut = text_told != text;
        Told { text: text_told, cut }
    }
}
