//! A map of bounded size that evicts the least recently used entries when it is full.

use std::collections::HashMap;
use std::hash::Hash;

/// A least-recently-used cache with a fixed capacity.
#[derive(Debug)]
pub struct LruCache<K, V> {
    capacity: usize,
    /// Incremented on each use; orders the entries by last use.
    use_counter: u64,
    entries: HashMap<K, LruEntry<V>>,
}

#[derive(Debug)]
struct LruEntry<V> {
    last_used: u64,
    value: V,
}

impl<K: Hash + Eq, V> LruCache<K, V> {
    /// Creates an empty cache that holds at most `most` entries; the minimum is 1.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { capacity: most.max(1), use_counter: 0, entries: HashMap::new() }
    }

    /// Returns the value of a key and marks it as used.
    pub fn get(&mut self, key: &K) -> Option<&mut V> {
        self.use_counter += 1;
        let used = self.entries.get_mut(key)?;
        used.last_used = self.use_counter;
        Some(&mut used.value)
    }

    /// Stores a value and replaces the previous value of the key.
    pub fn insert(&mut self, key: K, value: V) {
        if self.entries.len() >= self.capacity && !self.entries.contains_key(&key) {
            self.evict_oldest();
        }
        self.use_counter += 1;
        self.entries.insert(key, LruEntry { last_used: self.use_counter, value });
    }

    /// Removes a key and its value, if present.
    pub fn remove(&mut self, key: &K) {
        self.entries.remove(key);
    }

    /// Evicts a quarter of the entries at once, so that the search for old entries is rare.
    fn evict_oldest(&mut self) {
        let mut uses: Vec<u64> = self.entries.values().map(|used| used.last_used).collect();
        let (_, last, _) = uses.select_nth_unstable(self.capacity / 4);
        let last = *last;
        self.entries.retain(|_, used| used.last_used > last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_what_was_not_used_for_longest_goes() {
        let mut recent = LruCache::new(8);
        for number in 0..8 {
            recent.insert(number, number);
        }
        assert_eq!(recent.get(&0), Some(&mut 0));
        for number in 8..1_000 {
            recent.insert(number, number);
            assert!(recent.entries.len() <= 8, "{} are known", recent.entries.len());
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
        let mut recent = LruCache::new(1);
        recent.insert("a", 1);
        recent.insert("b", 2);
        assert_eq!(recent.get(&"a"), None);
        assert_eq!(recent.get(&"b"), Some(&mut 2));
    }
}
