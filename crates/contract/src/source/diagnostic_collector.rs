//! Collects diagnostics up to a limit: keeps the first ones of each code, counts the rest, and
//! drops duplicates.

use std::collections::{BTreeMap, BTreeSet};

use super::{Diagnostic, DiagnosticSeverity};
use crate::json::TextSpan;
use crate::limits::MAX_DIAGNOSTICS;

/// Diagnostics collected so far for a set of files.
#[derive(Debug, Default)]
pub struct DiagnosticCollector {
    listed: Vec<Diagnostic>,
    /// File, span, code and message of each diagnostic; the message is empty for those that are
    /// only counted.
    seen_keys: BTreeSet<(String, TextSpan, String, String)>,
    /// Number of diagnostics kept for each code.
    listed_by_code: BTreeMap<String, usize>,
    omitted: BTreeMap<String, OmittedDiagnostics>,
    files_with_errors: BTreeSet<String>,
    errors: usize,
}

/// Diagnostics of one code that are counted but not listed.
#[derive(Debug)]
struct OmittedDiagnostics {
    count: usize,
    /// First of these diagnostics. Its position stands for all of them; its severity is the worst
    /// one.
    first: Diagnostic,
}

impl DiagnosticCollector {
    /// Returns whether another diagnostic of this code would only be counted, so that the caller
    /// can skip building its message.
    #[must_use]
    pub fn is_full(&self, code: &str) -> bool {
        self.listed_by_code.get(code).is_some_and(|count| *count >= MAX_DIAGNOSTICS)
    }

    /// Adds a diagnostic. Duplicates are dropped.
    pub fn push(&mut self, finding: Diagnostic) {
        let full = self.is_full(&finding.code);
        let Diagnostic { source, span, code, message, .. } = &finding;
        let location = (source.name.clone(), *span, code.clone());
        let key =
            |words: &str| (location.0.clone(), location.1, location.2.clone(), words.to_owned());
        // A counted diagnostic has no stored message, so a known location with the same code is a
        // duplicate.
        let known = self.seen_keys.range(key("")..).next();
        let known = known.is_some_and(|(name, at, other, _)| {
            (name, *at, other) == (&location.0, location.1, &location.2)
        });
        if (full && known) || !self.seen_keys.insert(key(if full { "" } else { message })) {
            return;
        }
        if finding.severity == DiagnosticSeverity::Error {
            self.errors += 1;
            if !self.files_with_errors.contains(&source.name) {
                self.files_with_errors.insert(source.name.clone());
            }
        }
        if full {
            self.omit(finding);
        } else {
            *self.listed_by_code.entry(code.clone()).or_default() += 1;
            self.listed.push(finding);
        }
    }

    /// Adds several diagnostics and drops duplicates.
    pub fn extend(&mut self, findings: impl IntoIterator<Item = Diagnostic>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// Returns the number of errors, including those that are only counted.
    #[must_use]
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Returns whether the file with this name has an error.
    #[must_use]
    pub fn has_error_in(&self, file: &str) -> bool {
        self.files_with_errors.contains(file)
    }

    /// Returns at most [`MAX_DIAGNOSTICS`] diagnostics sorted by file and position, followed by one
    /// summary diagnostic for each code with omitted ones. If not all can be kept, errors take
    /// precedence over warnings.
    #[must_use]
    pub fn finish(mut self) -> Vec<Diagnostic> {
        if self.listed.len() > MAX_DIAGNOSTICS {
            self.listed.sort_by(|one, two| {
                one.severity.cmp(&two.severity).then_with(|| compare_locations(one, two))
            });
            for finding in self.listed.split_off(MAX_DIAGNOSTICS) {
                self.omit(finding);
            }
        }
        self.listed.sort_by(compare_locations);
        let more = self.omitted.into_values().map(|OmittedDiagnostics { count, first }| {
            let findings = if count == 1 { "finding" } else { "findings" };
            let message = format!("{count} more {findings} of this kind, not listed");
            let hint = "fix the listed findings, then check again".to_owned();
            Diagnostic { message, hint: Some(hint), ..first }
        });
        self.listed.extend(more);
        self.listed
    }

    fn omit(&mut self, finding: Diagnostic) {
        match self.omitted.get_mut(&finding.code) {
            None => {
                let left_out = OmittedDiagnostics { count: 1, first: finding };
                self.omitted.insert(left_out.first.code.clone(), left_out);
            }
            Some(left_out) => {
                left_out.count += 1;
                left_out.first.severity = left_out.first.severity.min(finding.severity);
            }
        }
    }
}

fn compare_locations(one: &Diagnostic, two: &Diagnostic) -> std::cmp::Ordering {
    fn key(finding: &Diagnostic) -> (&str, TextSpan, &str) {
        (&finding.source.name, finding.span, &finding.code)
    }
    key(one).cmp(&key(two))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::source::SourceFile;

    fn finding(code: &str, at: usize) -> Diagnostic {
        let source = Arc::new(SourceFile::new("a.yaml", "x".repeat(1_000)));
        Diagnostic::new(code, format!("at {at}"), &source, TextSpan::new(at, at + 1))
    }

    #[test]
    fn findings_beyond_the_bound_are_counted_by_code() {
        let mut findings = DiagnosticCollector::default();
        for at in (0..500).rev() {
            findings.push(finding("many", at));
            findings.push(finding("many", at));
        }
        findings.push(finding("one", 3).into_warning());
        assert_eq!(findings.error_count(), 500);
        let found = findings.finish();
        assert_eq!(found.len(), MAX_DIAGNOSTICS + 2);
        assert_eq!(found[0].message, "at 400");
        let tail: Vec<_> =
            found[MAX_DIAGNOSTICS..].iter().map(|one| (&*one.message, one.severity)).collect();
        assert_eq!(
            tail,
            [
                ("400 more findings of this kind, not listed", DiagnosticSeverity::Error),
                ("1 more finding of this kind, not listed", DiagnosticSeverity::Warning),
            ]
        );
    }

    #[test]
    fn few_findings_are_all_kept_in_the_order_of_the_file() {
        let mut findings = DiagnosticCollector::default();
        findings.extend([finding("b", 2).into_warning(), finding("a", 1), finding("a", 1)]);
        let starts: Vec<_> = findings.finish().iter().map(|one| one.span.start).collect();
        assert_eq!(starts, [1, 2]);
    }
}
