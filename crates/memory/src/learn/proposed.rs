//! From a reply under `memory_candidates_v1` to candidates.

use countersign_contracts::memory::candidates::{MemoryCandidates, ProposedFact, ProposedInsight};
use countersign_contracts::memory::insight::{Trigger, ValidationState};
use countersign_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_core::json::digest;
use countersign_core::run::Time;
use serde_json::{Value, json};

use super::{Shown, sentence_of};
use crate::Scope;
use crate::record::{Candidate, CandidateState, Claim, Evidence, Expiry, Fact, Insight, Origin};

/// A longer sentence is not quoted whole.
const LONGEST_QUOTE: usize = 2_000;

/// The candidates of a reply that the contract let in. The same claim of the same words has the same id, whenever
/// and however often it is made; said again in another event, it is another one. A fact is quoted with the whole
/// sentence that its words stand in, and holds from when it was said.
#[must_use]
pub fn proposed(
    scope: &Scope,
    shown: &Shown,
    reply: &MemoryCandidates,
    now: Time,
) -> Vec<Candidate> {
    let facts = reply.facts.iter().filter_map(|proposed| fact(shown, proposed));
    let facts = facts.map(|fact| Claim::Fact(Box::new(fact)));
    let insights = reply.insights.iter().map(|proposed| insight(scope, shown, proposed));
    let insights = insights.map(|insight| Claim::Insight(Box::new(insight)));
    let mut candidates: Vec<Candidate> = Vec::new();
    for claim in facts.chain(insights) {
        let id = id("c", &said(&claim));
        if candidates.iter().all(|other| other.id != id) {
            let (origin, state) = (Origin::Model, CandidateState::Proposed);
            candidates.push(Candidate { id, revision: 1, origin, claim, state, recorded_at: now });
        }
    }
    candidates
}

/// `None` where the event is not shown: the contract does not let that in.
fn fact(shown: &Shown, proposed: &ProposedFact) -> Option<Fact> {
    let event = shown.event(&proposed.event)?;
    let sentence = sentence_of(&event.text, &proposed.quote)?;
    let whole = Some(sentence).filter(|sentence| sentence.chars().count() <= LONGEST_QUOTE);
    let quote = whole.unwrap_or(&proposed.quote).to_owned();
    let (key, value) = (proposed.key.trim().to_owned(), proposed.value.trim().to_owned());
    Some(Fact {
        id: id("f", &json!([key, value, event.id, quote])),
        revision: 1,
        value: value.into(),
        key,
        status: FactStatus::Active,
        level: ScopeLevel::User,
        valid_from: Some(event.ts),
        valid_to: None,
        recorded_at: event.recorded_at,
        confidence: proposed.confidence,
        evidence: vec![Evidence { event: event.id.clone(), quote: Some(quote) }],
        preference: proposed.preference,
        tags: Vec::new(),
        entities: Vec::new(),
        notes: String::new(),
        superseded_by: None,
    })
}

fn insight(scope: &Scope, shown: &Shown, proposed: &ProposedInsight) -> Insight {
    let statement = proposed.statement.trim().to_owned();
    let because = proposed.because.iter().filter_map(|id| shown.event(id));
    Insight {
        id: id("i", &json!([scope.run(), statement])),
        revision: 1,
        run: scope.run().to_owned(),
        kind: proposed.kind,
        statement,
        trigger: Trigger::Synthesis,
        confidence: proposed.confidence,
        // Whatever a model is sure of, nobody has tested it.
        validation: ValidationState::Unvalidated,
        tests: proposed.tests_suggested.clone(),
        expires: Expiry::RunEnd,
        recorded_at: because.map(|event| event.recorded_at).max().unwrap_or_default(),
        sources: proposed.because.clone(),
    }
}

/// What a claim says, by which it is known again.
fn said(claim: &Claim) -> Value {
    match claim {
        Claim::Fact(fact) => {
            let evidence: Vec<_> =
                fact.evidence.iter().map(|piece| json!([piece.event, piece.quote])).collect();
            json!(["fact", fact.key, fact.value, evidence])
        }
        Claim::Insight(insight) => json!(["insight", insight.run, insight.statement]),
        Claim::Episode(episode) => json!(["episode", episode.id]),
        Claim::Procedure(procedure) => json!(["procedure", procedure.id]),
    }
}

fn id(prefix: &str, said: &Value) -> String {
    const SHOWN: usize = 20;
    let digest = digest(said);
    let hex = digest.strip_prefix("sha256:").unwrap_or(&digest);
    format!("{prefix}-{}", &hex[..SHOWN.min(hex.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Event, Place};
    use crate::store::NewEvent;

    fn event(id: &str, text: &str, ts: i64) -> Event {
        let scope = Scope::new("t", "u", "a", "s", "r").unwrap();
        let place = Place { session: 1, position: 1 };
        NewEvent::said(scope, id, text, Time(ts)).at(place)
    }

    #[test]
    fn what_is_said_again_later_is_another_fact() {
        let texts = [("e1", "I live in Paris."), ("e2", "I moved back to Paris.")];
        let events = texts.iter().zip(1..).map(|((id, text), ts)| event(id, text, ts));
        let shown = Shown::of(events.collect());
        let proposed = |event: &str, quote: &str| {
            let proposed = ProposedFact {
                key: "city".to_owned(),
                value: "Paris".to_owned(),
                event: event.to_owned(),
                quote: quote.to_owned(),
                confidence: 0.8,
                preference: false,
            };
            fact(&shown, &proposed).unwrap().id
        };
        let first = proposed("e1", "in Paris");
        // The sentence is the same, and so is the fact.
        assert_eq!(proposed("e1", "Paris"), first);
        assert_ne!(proposed("e2", "Paris"), first);
    }
}
