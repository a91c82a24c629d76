//! The time in which a fact holds, and what others leave of it. Both ends are included.

use countersign_core::run::Timestamp;

use crate::record::MemoryFact;

/// From when and until when; always before and ever after, where absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValidityPeriod {
    pub(super) from: Option<Timestamp>,
    pub(super) to: Option<Timestamp>,
}

impl ValidityPeriod {
    /// When a fact holds.
    pub(crate) fn from_fact(fact: &MemoryFact) -> Self {
        Self { from: fact.valid_from, to: fact.valid_to }
    }

    /// Whether a moment lies in it.
    pub(crate) fn contains(self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && !self.has_ended(at)
    }

    /// Whether it has ended by now.
    pub(super) fn has_ended(self, now: Timestamp) -> bool {
        self.to.is_some_and(|to| to < now)
    }

    /// Whether both hold at some moment.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let begins_in_time = |one: Self, other: Self| match (one.from, other.to) {
            (Some(from), Some(to)) => from <= to,
            _ => true,
        };
        begins_in_time(self, other) && begins_in_time(other, self)
    }

    /// Whether another is over by now, and has all of this one in it.
    pub(crate) fn is_within_past(self, other: Self, now: Timestamp) -> bool {
        other.has_ended(now) && self.subtract_all(&[other]).is_empty()
    }

    /// What is left of it beside others, the earliest first.
    pub(super) fn subtract_all(self, others: &[Self]) -> Vec<Self> {
        others.iter().fold(vec![self], |left, other| {
            left.into_iter().flat_map(|one| one.subtract(*other)).collect()
        })
    }

    fn subtract(self, other: Self) -> Vec<Self> {
        if !self.overlaps(other) {
            return vec![self];
        }
        // No beginning is the earliest of all.
        let before = other.from.filter(|from| self.from < Some(*from));
        let behind = other.to.filter(|to| self.to.is_none_or(|end| end > *to));
        let before = before.map(|from| Self { from: self.from, to: Some(from.plus_millis(-1)) });
        let behind = behind.map(|to| Self { from: Some(to.plus_millis(1)), to: self.to });
        before.into_iter().chain(behind).collect()
    }
}
