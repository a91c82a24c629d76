//! Which of a few terms a text has, without reading all of it.
//!
//! Stemming takes words their endings, never their beginnings: a word that begins with no letter that a
//! sought term (or an irregular form of it) begins with need not be stemmed.

use std::collections::BTreeSet;

use super::irregular::forms;
use super::terms;

/// Terms that are looked for in many texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sought {
    terms: BTreeSet<String>,
    /// The letters that they begin with; those beyond ASCII are looked for by reading all.
    letters: BTreeSet<u8>,
}

impl Sought {
    /// These terms.
    pub(crate) fn of<'t>(terms: impl Iterator<Item = &'t String>) -> Self {
        let terms: BTreeSet<String> = terms.cloned().collect();
        let mut letters = BTreeSet::new();
        for term in &terms {
            letters.extend(forms(term).filter_map(|form| form.bytes().next()));
        }
        letters.extend(terms.iter().filter_map(|term| term.bytes().next()));
        Self { terms, letters }
    }

    /// Those of them that stand in a text.
    pub(crate) fn of_text(&self, text: &str, found: &mut BTreeSet<String>) {
        let mut add = |term: String| {
            if self.terms.contains(&term) {
                found.insert(term);
            }
        };
        // An apostrophe may be part of a word, and other scripts are split by other rules.
        if !text.is_ascii() || text.contains('\'') {
            terms(text).into_iter().for_each(add);
            return;
        }
        for word in text.split(|character: char| !character.is_ascii_alphanumeric()) {
            let letter = word.bytes().next().map(|first| first.to_ascii_lowercase());
            if letter.is_some_and(|letter| self.letters.contains(&letter)) {
                terms(word).into_iter().for_each(&mut add);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(question: &str, text: &str) {
        let sought: Vec<String> = terms(question);
        let mut found = BTreeSet::new();
        Sought::of(sought.iter()).of_text(text, &mut found);
        let all: BTreeSet<String> = terms(text).into_iter().collect();
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
