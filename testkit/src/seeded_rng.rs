//! A reproducible random number generator: the same seed yields the same values on every machine.

/// A small generator (`SplitMix64`), suitable for tests and not for secrets.
#[derive(Debug, Clone)]
pub struct SeededRng {
    state: u64,
}

impl SeededRng {
    /// Creates a generator from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Creates a separate stream for one case, so that the case can be reproduced alone.
    #[must_use]
    pub fn for_case(seed: u64, case: u64) -> Self {
        let mut chance = Self::new(seed ^ case.wrapping_mul(0xA076_1D64_78BD_642F));
        chance.next_u64();
        chance
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`, or 0 if `limit` is 0.
    pub fn next_below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next_u64() % limit as u64) as usize }
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn next_between(&mut self, low: usize, high: usize) -> usize {
        low + self.next_below(high - low + 1)
    }

    /// Returns true with a probability of `percent` in a hundred.
    pub fn roll_percent(&mut self, percent: usize) -> bool {
        self.next_below(100) < percent
    }

    /// Picks one of the items.
    ///
    /// # Panics
    /// Panics if `items` is empty.
    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.next_below(items.len())]
    }

    /// Picks at least `least` of the items and keeps their order.
    pub fn pick_some<'i, T>(&mut self, items: &'i [T], least: usize) -> Vec<&'i T> {
        let mut wanted = self.next_between(least, items.len());
        let mut left = items.len();
        let mut chosen = Vec::new();
        for item in items {
            if self.next_below(left) < wanted {
                chosen.push(item);
                wanted -= 1;
            }
            left -= 1;
        }
        chosen
    }

    /// Picks one of the items, for slices of references.
    ///
    /// # Panics
    /// Panics if `items` is empty.
    pub fn pick_ref<'i, T: ?Sized>(&mut self, items: &[&'i T]) -> &'i T {
        items[self.next_below(items.len())]
    }
}
