//! BM25 in integer millionths, so that a score is the same on every machine.

use super::hits::IndexStats;
use super::posting::Posting;

/// The number one in millionths.
pub(super) const ONE: i64 = 1_000_000;

/// The usual `k1` = 1.2 and `b` = 0.75 as 1 + k1, k1 × (1 − b) and k1 × b, in millionths.
const K1_AND_ONE: u64 = 2_200_000;
const K1_FIXED: u64 = 300_000;
const K1_LENGTH: u64 = 900_000;

/// Computes the inverse document frequency: `ln(1 + (N − df + ½) / (df + ½))`,
/// which equals `ln((2N + 2) / (2df + 1))`.
pub(super) fn compute_idf(stats: IndexStats, df: u32) -> i64 {
    let events = stats.events.max(u64::from(df));
    ln_millionths(2 * events + 2, 2 * u64::from(df) + 1)
}

/// Computes the weight of a term in an event from its frequency and the length of the event: 0 to
/// 2.2.
#[derive(Debug)]
pub(super) struct TermSaturation {
    /// What each term of length adds to the denominator, in thousandths of millionths: k1 × b
    /// divided by the mean length, which is all terms divided by all events.
    a_term: u64,
    /// The weight of a term that occurs once, by event length; nearly all terms occur once.
    once: [i64; SHORT],
}

/// Nearly all events have fewer terms than this.
const SHORT: usize = 64;

impl TermSaturation {
    pub(super) fn new(stats: IndexStats) -> Self {
        let events = u128::from(K1_LENGTH) * 1_000 * u128::from(stats.events);
        let a_term = events / u128::from(stats.terms.max(1));
        let a_term = u64::try_from(a_term).unwrap_or(u64::MAX);
        let mut saturation = Self { a_term, once: [0; SHORT] };
        saturation.once = std::array::from_fn(|length| saturation.compute_score(1, length as u64));
        saturation
    }

    pub(super) fn score_posting(&self, posting: &Posting) -> i64 {
        match (posting.tf, self.once.get(usize::from(posting.length))) {
            (1, Some(known)) => *known,
            (tf, _) => self.compute_score(tf.into(), posting.length.into()),
        }
    }

    /// Returns the weight of a term that occurs `tf` times in so many terms.
    pub(super) fn score_occurrence(&self, tf: u64, length: u64) -> i64 {
        self.compute_score(tf, length)
    }

    fn compute_score(&self, tf: u64, length: u64) -> i64 {
        let length = self.a_term.saturating_mul(length) / 1_000;
        let below = (tf * ONE as u64 + K1_FIXED).saturating_add(length);
        (tf * K1_AND_ONE * ONE as u64 / below) as i64
    }
}

/// Multiplies two numbers in millionths.
pub(super) fn multiply_millionths(left: i64, right: i64) -> i64 {
    match left.checked_mul(right) {
        Some(product) => product / ONE,
        None => (i128::from(left) * i128::from(right) / i128::from(ONE)) as i64,
    }
}

/// Computes the natural logarithm of a fraction of at least one, in millionths, rounded down.
fn ln_millionths(above: u64, below: u64) -> i64 {
    const FRACTION: u32 = 32;
    /// The constant ln 2 in units of 2⁻³².
    const LN_2: u128 = 2_977_044_471;
    let ratio = (u128::from(above) << FRACTION) / u128::from(below.max(1));
    let whole = u128::BITS - 1 - ratio.max(1).leading_zeros();
    let Some(doublings) = whole.checked_sub(FRACTION) else { return 0 };
    // The value is between one and two now. Each squaring yields one more bit of the logarithm.
    let mut rest = ratio >> doublings;
    let mut log2 = u128::from(doublings);
    for _ in 0..FRACTION {
        rest = (rest * rest) >> FRACTION;
        log2 <<= 1;
        if rest >> (FRACTION + 1) != 0 {
            rest >>= 1;
            log2 |= 1;
        }
    }
    ((log2 * LN_2 * ONE as u128) >> (2 * FRACTION)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::EventLocation;

    #[test]
    fn logarithms_are_right_to_the_millionth() {
        for (above, below) in
            [(1, 1), (2, 1), (3, 2), (10, 1), (1_000_001, 1_000_000), (2_000_002, 3)]
        {
            let expected = (above as f64 / below as f64).ln() * 1e6;
            let found = ln_millionths(above, below) as f64;
            assert!((found - expected).abs() <= 1.5, "{above}/{below}: {found}, not {expected}");
        }
        assert_eq!(ln_millionths(1, 2), 0, "less than one is not asked for");
        assert_eq!(ln_millionths(u64::MAX, 1), 44_361_419);
    }

    #[test]
    fn the_rarer_the_more_and_the_longer_the_less() {
        let stats = IndexStats { events: 1_000, terms: 12_000 };
        assert!(compute_idf(stats, 1) > compute_idf(stats, 10));
        assert!(compute_idf(stats, 1_000) > 0);
        let posting = |tf, length| Posting {
            location: EventLocation { session: 1, position: 1 },
            tf,
            length,
            prose: false,
            assistant: false,
        };
        let saturation =
            |tf, length| TermSaturation::new(stats).score_posting(&posting(tf, length));
        assert_eq!(saturation(1, 12), ONE);
        assert!(saturation(2, 12) > ONE);
        assert!(saturation(1, 24) < ONE);
        assert!(saturation(u16::MAX, 1) < 2_200_000);
        assert!(TermSaturation::new(IndexStats::default()).score_posting(&posting(1, 1)) > 0);
    }
}
