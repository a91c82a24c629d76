//! A bounded list of violations: it keeps a limited number of them and counts the rest.
//!
//! All code that lists violations uses it, so a refused reply cannot fill a log.

use super::violation::{Violation, ViolationCode};
use crate::limits::{MAX_VIOLATION_BYTES, MAX_VIOLATIONS};

/// The violations found so far, within [`MAX_VIOLATIONS`] and [`MAX_VIOLATION_BYTES`].
#[derive(Debug, Default)]
pub struct ViolationList {
    listed: Vec<Violation>,
    bytes: usize,
    count: usize,
}

impl ViolationList {
    /// Keeps the violation if there is room, and counts it in any case. A violation equal to the
    /// previous one is neither kept nor counted.
    pub fn push(&mut self, violation: Violation) {
        if self.listed.last() == Some(&violation) {
            return;
        }
        let bytes = violation.text_bytes();
        let room = self.listed.is_empty() || self.bytes + bytes <= MAX_VIOLATION_BYTES;
        if room && !self.is_full() {
            self.bytes += bytes;
            self.listed.push(violation);
        }
        self.count += 1;
    }

    /// Counts violations that were not built.
    pub fn count_more(&mut self, more: usize) {
        self.count += more;
    }

    /// Returns whether the list only counts further violations, so that the caller need not build
    /// them.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.listed.len() >= MAX_VIOLATIONS
            || self.bytes >= MAX_VIOLATION_BYTES
            || self.count > self.listed.len()
    }

    /// Returns the number of violations, including those that were only counted.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the kept violations. If some were only counted, the last entry gives the total
    /// number.
    #[must_use]
    pub fn finish(self) -> Vec<Violation> {
        let Self { listed: mut kept, count, .. } = self;
        if count > kept.len() {
            let listed = kept.len();
            let message = format!("{count} violations in all; the first {listed} are listed");
            let expected = format!("at most {listed} violations");
            let summary =
                Violation::new(ViolationCode::MoreViolations, "", expected, count.to_string());
            kept.push(summary.with_message(message));
        }
        kept
    }
}

impl Extend<Violation> for ViolationList {
    fn extend<T: IntoIterator<Item = Violation>>(&mut self, violations: T) {
        for violation in violations {
            match violation.parse_totals() {
                // The total of a list that was finished earlier is added to this count.
                Some((count, listed)) => self.count_more(count - listed),
                None => self.push(violation),
            }
        }
    }
}

impl FromIterator<Violation> for ViolationList {
    fn from_iter<T: IntoIterator<Item = Violation>>(violations: T) -> Self {
        let mut list = Self::default();
        list.extend(violations);
        list
    }
}

/// Returns the number of violations that a finished list represents, including those not listed.
#[must_use]
pub fn count_violations(violations: &[Violation]) -> usize {
    match violations.last().and_then(Violation::parse_totals) {
        Some((count, _)) => count,
        None => violations.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violation(number: usize, found: &str) -> Violation {
        Violation::new(ViolationCode::Type, format!("/{number}"), "a string", found)
    }

    #[test]
    fn a_hundred_are_kept_and_the_rest_are_counted() {
        let gathered: ViolationList = (0..5_000).map(|number| violation(number, "1")).collect();
        let finished = gathered.finish();
        assert_eq!(finished.len(), MAX_VIOLATIONS + 1);
        assert_eq!(count_violations(&finished), 5_000);
        let last = finished.last().unwrap();
        assert_eq!(
            last.to_string(),
            "5000 violations in all; the first 100 are listed [more_violations]"
        );

        // Joining lists keeps the total.
        let mut joined: ViolationList = finished.into_iter().collect();
        joined.push(violation(9_000, "2"));
        assert_eq!(count_violations(&joined.finish()), 5_001);
    }

    #[test]
    fn few_but_huge_ones_are_bounded_too() {
        let huge = "x".repeat(MAX_VIOLATION_BYTES / 2);
        let gathered: ViolationList = (0..10).map(|number| violation(number, &huge)).collect();
        let kept = gathered.finish();
        let bytes: usize = kept.iter().map(Violation::text_bytes).sum();
        assert!(bytes < 3 * MAX_VIOLATION_BYTES, "{bytes} bytes");
        assert_eq!(count_violations(&kept), 10);
    }

    #[test]
    fn short_lists_stay_as_they_are() {
        let list: ViolationList =
            [violation(1, "1"), violation(1, "1"), violation(2, "1")].into_iter().collect();
        assert_eq!(list.finish(), [violation(1, "1"), violation(2, "1")]);
    }
}
