//! A short name for what a text is made of.

use std::collections::BTreeSet;

use super::words::split_words;
use crate::json::sha256_hex;

/// How many hexadecimal digits are kept: 64 bits, plenty for the texts of one document.
const FINGERPRINT_DIGITS: usize = 16;

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
pub fn compute_fingerprint(text: &str) -> String {
    let words: BTreeSet<String> = split_words(text).into_iter().collect();
    let mut all = String::new();
    for word in &words {
        all.push_str(word);
        all.push('\n');
    }
    let mut digits = sha256_hex(&[all.as_bytes()]);
    digits.truncate(FINGERPRINT_DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_set_of_words_counts() {
        let one = compute_fingerprint("Когда начинаются работы?");
        for same in ["когда работы начинаются", "РАБОТА, работы: когда… начинается!"]
        {
            assert_eq!(compute_fingerprint(same), one, "{same}");
        }
        assert_ne!(compute_fingerprint("Когда кончаются работы?"), one);
        assert_eq!(one.len(), 16);
    }

    #[test]
    fn it_stays_what_it_was() {
        // Kept in documents and logs: a change here must be a decision.
        assert_eq!(compute_fingerprint(""), "e3b0c44298fc1c14");
        assert_eq!(compute_fingerprint("…"), compute_fingerprint(""));
    }
}
