//! How near two texts are: whether one may be a rewording of the other.
//!
//! Words are compared, not meaning: `price` and `cost` are strangers here. What is measured, in
//! thousandths and by whole numbers only:
//!
//! ```text
//!                 shared
//! ───────────────────────────────────────   halved for each conflict
//! shared + 3 · exchanged + ½ · added
//! ```
//!
//! *shared* are the words of both (stems, without fillers), and in part those that share letter
//! triples. Of the rest, as many as stand on either side are *exchanged*, the others *added*: a
//! rewording adds words, another question exchanges one. A *conflict* is to ask for another thing
//! (`when`, `where`, `not`) or to name another number.

use std::collections::BTreeSet;

use super::compared_terms::ComparedTerms;
use super::words::split_words;

/// From here on, two questions are taken for the same one.
pub const SIMILARITY_THRESHOLD: f64 = 0.75;

/// What one word weighs.
const WORD_WEIGHT: u64 = 1000;
/// Words with fewer letters are equal or strangers.
const MIN_TRIGRAM_LETTERS: usize = 5;
/// Triples in common below this are chance.
const MIN_TRIGRAM_OVERLAP: u64 = 500;
/// More strangers than this are not looked at letter by letter: such texts are no rewordings.
const MAX_UNMATCHED_WORDS: usize = 64;

/// How near two texts are, from 0 to 1 in steps of a thousandth; the order of the two does not matter.
///
/// [`SAME`] is the measure from which two questions count as one.
///
/// ```
/// use countersign_core::text::{SAME, similarity};
///
/// let asked = "What is the contract price?";
/// assert!(similarity(asked, "Could you tell me the price of the contract?") >= SAME);
/// assert!(similarity(asked, "Who signs the contract?") < SAME);
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
    let alike = match_by_trigrams(&strangers, &others);
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
    if one.numbers.len() > numbers && other.numbers.len() > numbers {
        measure /= 2;
    }
    measure
}

/// The weight that strangers share by their letters, each with at most one of the others.
fn match_by_trigrams(strangers: &[&String], others: &[&String]) -> u64 {
    if strangers.len().max(others.len()) > MAX_UNMATCHED_WORDS {
        return 0;
    }
    let others: Vec<_> = others.iter().map(|word| (word.as_str(), to_trigrams(word))).collect();
    let mut pairs = Vec::new();
    for word in strangers {
        let mine = to_trigrams(word);
        for (other, theirs) in &others {
            // A first letter in common keeps `valid` and `invalid` apart.
            if word.chars().next() == other.chars().next() {
                let alike = dice_coefficient(&mine, theirs);
                if alike >= MIN_TRIGRAM_OVERLAP {
                    pairs.push((alike, word.as_str(), *other));
                }
            }
        }
    }
    // By likeness, then by the words themselves whichever side they stand on.
    pairs.sort_by_key(|(alike, word, other)| {
        (WORD_WEIGHT - alike, *word.min(other), *word.max(other))
    });
    let mut taken = BTreeSet::new();
    let mut sum = 0;
    for (alike, word, other) in pairs {
        if !taken.contains(&(0, word)) && !taken.contains(&(1, other)) {
            taken.extend([(0, word), (1, other)]);
            sum += alike;
        }
    }
    sum
}

/// The letters of a longer word, three at a time.
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
