//! The words of guesses in another order: all of them close together in a text.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A guess of fewer words is looked for as it is: two words stand near each other everywhere.
const MIN_WORDS: usize = 3;

/// So many other words may stand between those of a guess, besides one for each.
const MAX_GAP_WORDS: usize = 4;

/// The guesses by their words. A text is gone through once for all of them.
#[derive(Debug, Default)]
pub(super) struct ProximityMatcher {
    /// The guesses that a word belongs to, and which of their words it is.
    words: HashMap<String, Vec<(usize, usize)>>,
    /// How many words each guess has.
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

    /// The guesses all of whose words stand close together in a text.
    pub(super) fn find_in_text(&self, text: &str) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        if self.words.is_empty() {
            return found;
        }
        // Where each word of a guess was seen last.
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
