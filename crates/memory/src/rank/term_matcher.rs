//! Finds which of a few terms a text contains, without analyzing all of its words.
//!
//! A word is skipped if no term, and no irregular form of one, begins with the same letter.

use std::collections::BTreeSet;

use countersign_contract::text::split_words_starting;

use super::irregular::{list_irregular_forms, to_base_form};

/// Terms to find in many texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct TermMatcher {
    terms: BTreeSet<String>,
    /// The first letters of the terms and of their irregular forms.
    initials: BTreeSet<char>,
}

impl TermMatcher {
    /// Creates a matcher for these terms.
    pub(crate) fn from_terms<'t>(terms: impl Iterator<Item = &'t String>) -> Self {
        let terms: BTreeSet<String> = terms.cloned().collect();
        let mut initials = BTreeSet::new();
        for term in &terms {
            initials.extend(list_irregular_forms(term).filter_map(|form| form.chars().next()));
        }
        initials.extend(terms.iter().filter_map(|term| term.chars().next()));
        Self { terms, initials }
    }

    /// Adds the terms that a text contains to `found`.
    pub(crate) fn find_in_text(&self, text: &str, found: &mut BTreeSet<String>) {
        // The terms contain no function words, because these are never indexed.
        let words = split_words_starting(text, |first| self.initials.contains(&first));
        found.extend(words.into_iter().map(to_base_form).filter(|term| self.terms.contains(term)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::extract_terms;
    use super::*;

    fn check(question: &str, text: &str) {
        let sought: Vec<String> = extract_terms(question);
        let mut found = BTreeSet::new();
        TermMatcher::from_terms(sought.iter()).find_in_text(text, &mut found);
        let all: BTreeSet<String> = extract_terms(text).into_iter().collect();
        let expected = all.into_iter().filter(|term| sought.contains(term)).collect();
        assert_eq!(found, expected, "{question} / {text}");
    }

    #[test]
    fn what_is_sought_is_found_as_if_all_was_read() {
        let texts = [
            "They went to buy children's teeth; DYING, lying_tying skies 12 a4.",
            "The mice were said to have run.",
            "Цена договора, 合同价格 and prices",
            "",
        ];
        for text in texts {
            check("go child tooth die lie tie sky mouse say run 12 A4 price договор 价格", text);
            check("", text);
        }
    }

    proptest! {
        #[test]
        fn whatever_the_words(question in "[a-z]{1,9}( [a-z]{1,9}){0,4}", text in "[ -~]{0,60}") {
            check(&question, &text);
            check(&text, &question);
            check(&text, &format!("{text} {question}s {question}ing"));
        }
    }
}
