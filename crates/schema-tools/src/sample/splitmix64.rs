//! The `SplitMix64` random number generator. Its output depends only on the seed.

/// The state of the generator.
#[derive(Debug, Clone)]
pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator from a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub(super) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number below `limit`, or 0 if `limit` is 0.
    pub(super) fn next_below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next_u64() % limit as u64) as usize }
    }

    /// Returns true in about `percent` of 100 cases.
    pub(super) fn next_bool(&mut self, percent: u64) -> bool {
        self.next_u64() % 100 < percent
    }
}
