//! Which of two facts that contradict each other holds.

use std::cmp::Ordering;

use super::{Standing, trust};

/// How much more confident a fact must be to win by that alone.
pub const MARGIN: f64 = 0.2;

/// What a claim weighs against a fact that stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The claim takes its place.
    Wins,
    /// The claim is out of date before it is kept.
    Loses,
    /// Neither: a person must say.
    Even,
}

/// Weighs a claim against a fact that stands. The newer one by `valid_from` wins, else the one more
/// confident by [`MARGIN`], else the one of more trust; but none wins over an origin of more trust.
#[must_use]
pub fn weigh(claim: &Standing, standing: &Standing) -> Weight {
    let by_trust = trust(claim.origin).cmp(&trust(standing.origin));
    // No beginning is the earliest of all.
    let by_time = claim.fact.valid_from.cmp(&standing.fact.valid_from);
    let ahead = by_time.then(by_confidence(claim, standing)).then_with(|| match by_trust {
        Ordering::Less => Ordering::Equal,
        other => other,
    });
    match (ahead, by_trust) {
        (Ordering::Greater, Ordering::Greater | Ordering::Equal) => Weight::Wins,
        (Ordering::Less, Ordering::Less | Ordering::Equal) => Weight::Loses,
        _ => Weight::Even,
    }
}

fn by_confidence(claim: &Standing, standing: &Standing) -> Ordering {
    // In thousandths: 0.7 − 0.5 is a little less than 0.2.
    let thousandths = |confidence: f64| (confidence * 1000.0).round() as i64;
    let lead = thousandths(claim.fact.confidence) - thousandths(standing.fact.confidence);
    if lead.abs() >= thousandths(MARGIN) { lead.cmp(&0) } else { Ordering::Equal }
}
