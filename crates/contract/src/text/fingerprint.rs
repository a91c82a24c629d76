//! Fingerprints: short digests of the words of a text.

use std::collections::BTreeSet;

use super::numbers::extract_numbers;
use super::words::split_words;
use crate::json::sha256_hex;

/// Length of a fingerprint in hexadecimal digits: 64 bits, enough for the texts of one document.
const FINGERPRINT_DIGITS: usize = 16;

/// Returns sixteen hexadecimal digits that are equal for texts with the same words.
///
/// Order, repetition, case, punctuation and word endings do not matter; every word does, including
/// stop words.
///
/// ```
/// use countersign_contract::text::compute_fingerprint;
///
/// assert_eq!(
///     compute_fingerprint("Price of the contract?"),
///     compute_fingerprint("the contract of PRICES")
/// );
/// assert_ne!(
///     compute_fingerprint("Price of the contract?"),
///     compute_fingerprint("Contract price?")
/// );
/// ```
#[must_use]
pub fn compute_fingerprint(text: &str) -> String {
    // A number is one word: `4.2` is not `2.4`, and `5%` is not `5`.
    let words: BTreeSet<String> =
        split_words(text).into_iter().chain(extract_numbers(text)).collect();
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
        let number = |text: &str| compute_fingerprint(&format!("What does clause {text} say?"));
        assert_ne!(number("4.2"), number("2.4"));
        assert_ne!(number("5%"), number("5"));
    }

    #[test]
    fn it_stays_what_it_was() {
        // Documents and logs store fingerprints, so a change here must be deliberate.
        assert_eq!(compute_fingerprint(""), "e3b0c44298fc1c14");
        assert_eq!(compute_fingerprint("…"), compute_fingerprint(""));
    }
}
