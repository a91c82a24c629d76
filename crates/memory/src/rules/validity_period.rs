//! Validity periods of facts and their arithmetic. Both ends are inclusive.

use countersign_contract::Timestamp;

use crate::record::MemoryFact;

/// A validity period; a missing end is unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValidityPeriod {
    pub(super) from: Option<Timestamp>,
    pub(super) to: Option<Timestamp>,
}

impl ValidityPeriod {
    /// Returns the validity period of a fact.
    pub(crate) fn from_fact(fact: &MemoryFact) -> Self {
        Self { from: fact.valid_from, to: fact.valid_to }
    }

    /// Returns whether a timestamp lies in the period.
    pub(crate) fn contains(self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && !self.has_ended(at)
    }

    /// Returns whether the period ended before now.
    pub(super) fn has_ended(self, now: Timestamp) -> bool {
        self.to.is_some_and(|to| to < now)
    }

    /// Returns whether the periods have a timestamp in common.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let begins_in_time = |one: Self, other: Self| match (one.from, other.to) {
            (Some(from), Some(to)) => from <= to,
            _ => true,
        };
        begins_in_time(self, other) && begins_in_time(other, self)
    }

    /// Returns whether another period has ended and covers all of this one.
    pub(crate) fn is_within_past(self, other: Self, now: Timestamp) -> bool {
        other.has_ended(now) && self.subtract_all(&[other]).is_empty()
    }

    /// Returns the parts of the period that the others do not cover, earliest first.
    pub(super) fn subtract_all(self, others: &[Self]) -> Vec<Self> {
        others.iter().fold(vec![self], |left, other| {
            left.into_iter().flat_map(|one| one.subtract(*other)).collect()
        })
    }

    fn subtract(self, other: Self) -> Vec<Self> {
        if !self.overlaps(other) {
            return vec![self];
        }
        // A missing start sorts before every timestamp.
        let before = other.from.filter(|from| self.from < Some(*from));
        let behind = other.to.filter(|to| self.to.is_none_or(|end| end > *to));
        let before = before.map(|from| Self { from: self.from, to: Some(from.plus_millis(-1)) });
        let behind = behind.map(|to| Self { from: Some(to.plus_millis(1)), to: self.to });
        before.into_iter().chain(behind).collect()
    }
}
