//! A short name for what a text is made of.

use std::collections::BTreeSet;

use super::words::words;
use crate::json::sha256;

/// How many hexadecimal digits are kept: 64 bits, plenty for the texts of one document.
const DIGITS: usize = 16;

/// Sixteen hexadecimal digits that are the same for texts of the same words.
///
/// Order, repetition, case, punctuation and endings do not matter; every word does, also the small ones.
///
/// ```
/// use countersign_core::text::fingerprint;
///
/// assert_eq!(fingerprint("Price of the contract?"), fingerprint("the contract of PRICES"));
/// assert_ne!(fingerprint("Price of the contract?"), fingerprint("Contract price?"));
/// ```
#[must_use]
pub fn fingerprint(text: &str) -> String {
    let words: BTreeSet<String> = words(text).into_iter().collect();
    let mut all = String::new();
    for word in &words {
        all.push_str(word);
        all.push('\n');
    }
    let mut digits = sha256(&[all.as_bytes()]);
    digits.truncate(DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_set_of_words_counts() {
        let one = fingerprint("Когда начинаются работы?");
        for same in ["когда работы начинаются", "РАБОТА, работы: когда… начинается!"]
        {
            assert_eq!(fingerprint(same), one, "{same}");
        }
        assert_ne!(fingerprint("Когда кончаются работы?"), one);
        assert_eq!(one.len(), 16);
    }

    #[test]
    fn it_stays_what_it_was() {
        // Kept in documents and logs: a change here must be a decision.
        assert_eq!(fingerprint(""), "e3b0c44298fc1c14");
        assert_eq!(fingerprint("…"), fingerprint(""));
    }
}
