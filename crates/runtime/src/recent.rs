//! A map with a bound: when it is full, what was not used for longest goes.

use std::collections::HashMap;
use std::hash::Hash;

/// Holds at most so many.
#[derive(Debug)]
pub struct Recent<K, V> {
    most: usize,
    /// Counts uses.
    uses: u64,
    known: HashMap<K, Used<V>>,
}

#[derive(Debug)]
struct Used<V> {
    last: u64,
    value: V,
}

impl<K: Hash + Eq, V> Recent<K, V> {
    /// An empty one.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), uses: 0, known: HashMap::new() }
    }

    /// What is known, which is a use of it.
    pub fn get(&mut self, key: &K) -> Option<&mut V> {
        self.uses += 1;
        let used = self.known.get_mut(key)?;
        used.last = self.uses;
        Some(&mut used.value)
    }

    /// Keeps a value in the place of the one before.
    pub fn insert(&mut self, key: K, value: V) {
        if self.known.len() >= self.most && !self.known.contains_key(&key) {
            self.make_room();
        }
        self.uses += 1;
        self.known.insert(key, Used { last: self.uses, value });
    }

    /// Forgets a value.
    pub fn remove(&mut self, key: &K) {
        self.known.remove(key);
    }

    /// A quarter goes at once, so that looking for it is rare.
    fn make_room(&mut self) {
        let mut uses: Vec<u64> = self.known.values().map(|used| used.last).collect();
        let (_, last, _) = uses.select_nth_unstable(self.most / 4);
        let last = *last;
        self.known.retain(|_, used| used.last > last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_what_was_not_used_for_longest_goes() {
        let mut recent = Recent::new(8);
        for number in 0..8 {
            recent.insert(number, number);
        }
        assert_eq!(recent.get(&0), Some(&mut 0));
        for number in 8..1_000 {
            recent.insert(number, number);
            assert!(recent.known.len() <= 8, "{} are known", recent.known.len());
            assert_eq!(recent.get(&0), Some(&mut 0), "the one in use is gone at {number}");
            assert_eq!(recent.get(&number), Some(&mut number.clone()));
        }
        assert_eq!(recent.get(&1), None);
        recent.insert(0, 7);
        recent.remove(&999);
        assert_eq!(recent.get(&0), Some(&mut 7));
        assert_eq!(recent.get(&999), None);
    }

    #[test]
    fn one_is_enough() {
        let mut recent = Recent::new(1);
        recent.insert("a", 1);
        recent.insert("b", 2);
        assert_eq!(recent.get(&"a"), None);
        assert_eq!(recent.get(&"b"), Some(&mut 2));
    }
}
