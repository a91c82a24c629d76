//! Which of two facts that contradict each other holds.

use std::cmp::Ordering;

use super::{FactRevision, trust_level};

/// How much more confident a fact must be to win by that alone.
pub const CONFIDENCE_MARGIN: f64 = 0.2;

/// What a claim weighs against a fact that stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimComparison {
    /// The claim takes its place.
    Wins,
    /// The claim is out of date before it is kept.
    Loses,
    /// Neither: a person must say.
    Tie,
}

/// Weighs a claim against a fact that stands. The newer one by `valid_from` wins, else the one more
/// confident by [`MARGIN`], else the one of more trust; but none wins over an origin of more trust.
#[must_use]
pub fn compare_claim(claim: &FactRevision, standing: &FactRevision) -> ClaimComparison {
    let by_trust = trust_level(claim.origin).cmp(&trust_level(standing.origin));
    // No beginning is the earliest of all.
    let by_time = claim.fact.valid_from.cmp(&standing.fact.valid_from);
    let ahead = by_time.then(compare_confidence(claim, standing)).then_with(|| match by_trust {
        Ordering::Less => Ordering::Equal,
        other => other,
    });
    match (ahead, by_trust) {
        (Ordering::Greater, Ordering::Greater | Ordering::Equal) => ClaimComparison::Wins,
        (Ordering::Less, Ordering::Less | Ordering::Equal) => ClaimComparison::Loses,
        _ => ClaimComparison::Tie,
    }
}

fn compare_confidence(claim: &FactRevision, standing: &FactRevision) -> Ordering {
    // In thousandths: 0.7 − 0.5 is a little less than 0.2.
    let thousandths = |confidence: f64| (confidence * 1000.0).round() as i64;
    let lead = thousandths(claim.fact.confidence) - thousandths(standing.fact.confidence);
    if lead.abs() >= thousandths(CONFIDENCE_MARGIN) { lead.cmp(&0) } else { Ordering::Equal }
}
