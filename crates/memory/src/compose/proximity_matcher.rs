//! Finds insights whose words occur close together in a text, in any order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The minimum number of words of an insight. Two words occur near each other everywhere, so a
/// shorter insight matches only as it is written.
const MIN_WORDS: usize = 3;

/// The number of other words allowed between those of an insight, in addition to one for each word.
const MAX_GAP_WORDS: usize = 4;

/// The insights by word. One pass over a text finds all of them.
#[derive(Debug, Default)]
pub(super) struct ProximityMatcher {
    /// For each word, the insights that contain it and the index of the word in each.
    words: HashMap<String, Vec<(usize, usize)>>,
    /// The number of words of each insight.
    sizes: Vec<usize>,
}

impl ProximityMatcher {
    pub(super) fn from_statements(guesses: &[String]) -> Self {
        let mut scattered = Self::default();
        for (number, guess) in guesses.iter().enumerate() {
            let words: BTreeSet<&str> = guess.split(' ').collect();
            scattered.sizes.push(words.len());
            if words.len() < MIN_WORDS {
                continue;
            }
            for (place, word) in words.into_iter().enumerate() {
                scattered.words.entry(word.to_owned()).or_default().push((number, place));
            }
        }
        scattered
    }

    /// Returns the insights whose words all occur close together in a text.
    pub(super) fn find_in_text(&self, text: &str) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        if self.words.is_empty() {
            return found;
        }
        // The last position of each word of an insight.
        let mut last: BTreeMap<usize, Vec<Option<usize>>> = BTreeMap::new();
        for (at, word) in text.split(' ').enumerate() {
            for (guess, place) in self.words.get(word).into_iter().flatten() {
                let size = self.sizes[*guess];
                let seen = last.entry(*guess).or_insert_with(|| vec![None; size]);
                seen[*place] = Some(at);
                let first = seen.iter().copied().min().flatten();
                if first.is_some_and(|first| at - first < 2 * size + MAX_GAP_WORDS) {
                    found.insert(*guess);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_order_and_only_close_together() {
        let guesses = ["carol is leaving soon", "yes we", "bob may like tofu"];
        let scattered = ProximityMatcher::from_statements(&guesses.map(str::to_owned));
        let check = |text: &str, found: &[usize]| {
            assert_eq!(scattered.find_in_text(text), found.iter().copied().collect(), "{text}");
        };
        check("soon leaving is carol", &[0]);
        check("they say that soon i think leaving is what carol does", &[0]);
        check("carol is here", &[]);
        check("we yes", &[]);
        check("tofu may be what carol and bob like", &[2]);
        let far = format!("carol is here {} leaving soon", "and so on ".repeat(20));
        check(&far, &[]);
    }
}
