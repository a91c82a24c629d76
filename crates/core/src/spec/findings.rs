//! Findings about an author's files, collected up to a bound: the first of each code are kept, the
//! rest are counted, and nothing is reported twice.

use std::collections::{BTreeMap, BTreeSet};

use super::{Diagnostic, Severity};
use crate::json::Span;
use crate::limits::MAX_FINDINGS;

/// What was found so far.
#[derive(Debug, Default)]
pub struct Findings {
    kept: Vec<Diagnostic>,
    /// File, place, code and message of each; without the message where that was not kept.
    seen: BTreeSet<(String, Span, String, String)>,
    /// How many findings of a code are kept.
    kept_by_code: BTreeMap<String, usize>,
    left_out: BTreeMap<String, LeftOut>,
    files_with_errors: BTreeSet<String>,
    errors: usize,
}

/// The findings of one code that were counted only.
#[derive(Debug)]
struct LeftOut {
    count: usize,
    /// The first of them, whose place and severity stand for all.
    first: Diagnostic,
}

impl Findings {
    /// Whether a finding of this code would be counted only, so that its words need not be made.
    #[must_use]
    pub fn is_full(&self, code: &str) -> bool {
        self.kept_by_code.get(code).is_some_and(|count| *count >= MAX_FINDINGS)
    }

    /// Adds a finding. One that is known already is dropped.
    pub fn push(&mut self, finding: Diagnostic) {
        let full = self.is_full(&finding.code);
        let Diagnostic { source, span, code, message, .. } = &finding;
        let place = (source.name.clone(), *span, code.clone());
        let key = |words: &str| (place.0.clone(), place.1, place.2.clone(), words.to_owned());
        // What is only counted has no words: one at a place that is known already is the same.
        let known = self.seen.range(key("")..).next();
        let known = known.is_some_and(|(name, at, other, _)| {
            (name, *at, other) == (&place.0, place.1, &place.2)
        });
        if (full && known) || !self.seen.insert(key(if full { "" } else { message })) {
            return;
        }
        if finding.severity == Severity::Error {
            self.errors += 1;
            if !self.files_with_errors.contains(&source.name) {
                self.files_with_errors.insert(source.name.clone());
            }
        }
        if full {
            self.leave_out(finding);
        } else {
            *self.kept_by_code.entry(code.clone()).or_default() += 1;
            self.kept.push(finding);
        }
    }

    /// Adds several.
    pub fn extend(&mut self, findings: impl IntoIterator<Item = Diagnostic>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// How many errors there are, those that are only counted included.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Whether a file has an error.
    #[must_use]
    pub fn has_error_in(&self, file: &str) -> bool {
        self.files_with_errors.contains(file)
    }

    /// The findings by file and place, at most [`MAX_FINDINGS`], errors before warnings where not all
    /// can be kept; then one line for each code of which some were left out.
    #[must_use]
    pub fn finish(mut self) -> Vec<Diagnostic> {
        if self.kept.len() > MAX_FINDINGS {
            self.kept.sort_by(|one, two| {
                one.severity.cmp(&two.severity).then_with(|| compare_places(one, two))
            });
            for finding in self.kept.split_off(MAX_FINDINGS) {
                self.leave_out(finding);
            }
        }
        self.kept.sort_by(compare_places);
        let more = self.left_out.into_values().map(|LeftOut { count, first }| {
            let findings = if count == 1 { "finding" } else { "findings" };
            let message = format!("{count} more {findings} of this kind, not listed");
            let hint = "correct what is listed, then check again".to_owned();
            Diagnostic { message, hint: Some(hint), ..first }
        });
        self.kept.extend(more);
        self.kept
    }

    fn leave_out(&mut self, finding: Diagnostic) {
        match self.left_out.get_mut(&finding.code) {
            None => {
                let left_out = LeftOut { count: 1, first: finding };
                self.left_out.insert(left_out.first.code.clone(), left_out);
            }
            Some(left_out) => {
                left_out.count += 1;
                left_out.first.severity = left_out.first.severity.min(finding.severity);
            }
        }
    }
}

fn compare_places(one: &Diagnostic, two: &Diagnostic) -> std::cmp::Ordering {
    fn key(finding: &Diagnostic) -> (&str, Span, &str) {
        (&finding.source.name, finding.span, &finding.code)
    }
    key(one).cmp(&key(two))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::spec::Source;

    fn finding(code: &str, at: usize) -> Diagnostic {
        let source = Arc::new(Source::new("a.yaml", "x".repeat(1_000)));
        Diagnostic::new(code, format!("at {at}"), &source, Span::new(at, at + 1))
    }

    #[test]
    fn findings_beyond_the_bound_are_counted_by_code() {
        let mut findings = Findings::default();
        for at in (0..500).rev() {
            findings.push(finding("many", at));
            findings.push(finding("many", at));
        }
        findings.push(finding("one", 3).warning());
        assert_eq!(findings.errors(), 500);
        let found = findings.finish();
        assert_eq!(found.len(), MAX_FINDINGS + 2);
        assert_eq!(found[0].message, "at 400");
        let tail: Vec<_> =
            found[MAX_FINDINGS..].iter().map(|one| (&*one.message, one.severity)).collect();
        assert_eq!(
            tail,
            [
                ("400 more findings of this kind, not listed", Severity::Error),
                ("1 more finding of this kind, not listed", Severity::Warning),
            ]
        );
    }

    #[test]
    fn few_findings_are_all_kept_in_the_order_of_the_file() {
        let mut findings = Findings::default();
        findings.extend([finding("b", 2).warning(), finding("a", 1), finding("a", 1)]);
        let places: Vec<_> = findings.finish().iter().map(|one| one.span.start).collect();
        assert_eq!(places, [1, 2]);
    }
}
