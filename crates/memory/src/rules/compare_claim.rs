//! Decides which of two contradicting facts holds.

use std::cmp::Ordering;

use super::{FactRevision, trust_level};

/// The lead in confidence that a fact needs to win by confidence alone.
pub const CONFIDENCE_MARGIN: f64 = 0.2;

/// The result of comparing a claim with a current fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimComparison {
    /// The claim replaces the fact.
    Wins,
    /// The claim is outdated before it is stored.
    Loses,
    /// Neither wins; a person must decide.
    Tie,
}

/// Compares a claim with a current fact. The one with the newer `valid_from` wins, then the one
/// that is more confident by [`CONFIDENCE_MARGIN`], then the one from the more trusted origin. A
/// claim never wins over a more trusted origin.
#[must_use]
pub fn compare_claim(claim: &FactRevision, standing: &FactRevision) -> ClaimComparison {
    let by_trust = trust_level(claim.origin).cmp(&trust_level(standing.origin));
    // A missing start sorts before every timestamp.
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
    // In thousandths, because 0.7 − 0.5 is slightly less than 0.2 in floating point.
    let thousandths = |confidence: f64| (confidence * 1000.0).round() as i64;
    let lead = thousandths(claim.fact.confidence) - thousandths(standing.fact.confidence);
    if lead.abs() >= thousandths(CONFIDENCE_MARGIN) { lead.cmp(&0) } else { Ordering::Equal }
}
