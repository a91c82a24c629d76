//! Text similarity: whether one text may be a rewording of another.
//!
//! It compares words, not meaning: `price` and `cost` do not match. The measure, computed in
//! thousandths with integers only:
//!
//! ```text
//!                 shared
//! ───────────────────────────────────────   halved for each conflict
//! shared + 3 · exchanged + ½ · added
//! ```
//!
//! *shared* counts the words of both texts (stems, without stop words), and partially those with
//! common letter trigrams. Of the other words, as many as both sides have are *exchanged*, the rest
//! are *added*: a rewording adds words, a different question exchanges one. Texts *conflict* if
//! they ask for different things (`when`, `where`, `not`), if they name different things (names,
//! single letters, numbers), or if both have a word that nothing in the other text resembles.

use std::collections::BTreeSet;

use super::compared_terms::ComparedTerms;
use super::words::split_words;

/// Minimum similarity at which two questions count as the same one.
pub const SIMILARITY_THRESHOLD: f64 = 0.75;

/// Weight of one word, in thousandths.
const WORD_WEIGHT: u64 = 1000;
/// Minimum length of a word, in letters, for trigram comparison. Shorter words must be equal to
/// match.
const MIN_TRIGRAM_LETTERS: usize = 5;
/// Minimum trigram overlap, in thousandths. Smaller overlaps are coincidence.
const MIN_TRIGRAM_OVERLAP: u64 = 500;
/// Maximum number of unmatched words for trigram comparison. Texts with more are not rewordings.
const MAX_UNMATCHED_WORDS: usize = 64;

/// Returns the similarity of two texts, from 0 to 1 in steps of a thousandth. The measure is
/// symmetric.
///
/// Two questions count as the same one from [`SIMILARITY_THRESHOLD`] on.
///
/// ```
/// use countersign_contract::text::{SIMILARITY_THRESHOLD, measure_similarity};
///
/// let asked = "What is the contract price?";
/// let reworded = "Could you tell me the price of the contract?";
/// assert!(measure_similarity(asked, reworded) >= SIMILARITY_THRESHOLD);
/// assert!(measure_similarity(asked, "Who signs the contract?") < SIMILARITY_THRESHOLD);
/// ```
#[must_use]
pub fn measure_similarity(left: &str, right: &str) -> f64 {
    let (one, other) = (ComparedTerms::from_text(left), ComparedTerms::from_text(right));
    let thousandths = if one.is_empty() && other.is_empty() {
        let set = |text: &str| split_words(text).into_iter().collect::<BTreeSet<String>>();
        dice_coefficient(&set(left), &set(right))
    } else {
        compare_terms(&one, &other)
    };
    thousandths as f64 / WORD_WEIGHT as f64
}

fn compare_terms(one: &ComparedTerms, other: &ComparedTerms) -> u64 {
    let numbers = one.numbers.intersection(&other.numbers).count();
    let words = one.words.intersection(&other.words).count();
    let (strangers, others) = (one.words_missing_in(other), other.words_missing_in(one));
    let (alike, matched) = match_by_trigrams(&strangers, &others);
    let shared = (numbers + words) as u64 * WORD_WEIGHT + alike;
    let rest = |words: usize, all: usize| (words + all - numbers) as u64 * WORD_WEIGHT - alike;
    let left = rest(strangers.len(), one.numbers.len());
    let right = rest(others.len(), other.numbers.len());
    let (exchanged, added) = (left.min(right), left.abs_diff(right));
    if shared == 0 {
        return 0;
    }
    let mut measure = shared * WORD_WEIGHT / (shared + 3 * exchanged + added / 2);
    if one.question_kinds != other.question_kinds {
        measure /= 2;
    }
    if !one.identifiers.agree_with(&other.identifiers) {
        measure /= 2;
    }
    if strangers.len().min(others.len()) > matched {
        measure /= 2;
    }
    measure
}

/// Returns the weight that unmatched words share by their trigrams, and how many of them do. Each
/// word matches at most one word of the other text.
fn match_by_trigrams(strangers: &[&String], others: &[&String]) -> (u64, usize) {
    if strangers.len().max(others.len()) > MAX_UNMATCHED_WORDS {
        return (0, 0);
    }
    let others: Vec<_> = others.iter().map(|word| (word.as_str(), to_trigrams(word))).collect();
    let mut pairs = Vec::new();
    for word in strangers {
        let mine = to_trigrams(word);
        for (other, theirs) in &others {
            // Requiring the same first letter keeps `valid` and `invalid` apart.
            if word.chars().next() == other.chars().next() {
                let alike = dice_coefficient(&mine, theirs);
                if alike >= MIN_TRIGRAM_OVERLAP {
                    pairs.push((alike, word.as_str(), *other));
                }
            }
        }
    }
    // Sort by similarity, then by the words themselves, so that the order of the texts does not
    // matter.
    pairs.sort_by_key(|(alike, word, other)| {
        (WORD_WEIGHT - alike, *word.min(other), *word.max(other))
    });
    let mut taken = BTreeSet::new();
    let (mut sum, mut matched) = (0, 0);
    for (alike, word, other) in pairs {
        if !taken.contains(&(0, word)) && !taken.contains(&(1, other)) {
            taken.extend([(0, word), (1, other)]);
            sum += alike;
            matched += 1;
        }
    }
    (sum, matched)
}

/// Returns the letter trigrams of a word; empty for a word shorter than [`MIN_TRIGRAM_LETTERS`].
fn to_trigrams(word: &str) -> BTreeSet<[char; 3]> {
    let mut letters: Vec<char> = vec![' '];
    letters.extend(word.chars());
    letters.push(' ');
    if letters.len() < MIN_TRIGRAM_LETTERS + 2 {
        return BTreeSet::new();
    }
    letters.windows(3).map(|three| [three[0], three[1], three[2]]).collect()
}

fn dice_coefficient<T: Ord>(left: &BTreeSet<T>, right: &BTreeSet<T>) -> u64 {
    let both = left.len() + right.len();
    if both == 0 {
        return 0;
    }
    2 * left.intersection(right).count() as u64 * WORD_WEIGHT / both as u64
}
