//! Converts a reply under `memory_candidates_v1` into claim candidates.

use countersign_contract::Timestamp;
use countersign_contract::json::digest_json;
use countersign_shipped_contracts::memory::candidates::{
    MemoryCandidates, ProposedFact, ProposedInsight,
};
use countersign_shipped_contracts::memory::insight::{InsightTrigger, InsightValidationState};
use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};
use serde_json::{Value, json};

use super::{PromptEvents, find_sentence};
use crate::MemoryScope;
use crate::record::{
    CandidateState, ClaimCandidate, FactEvidence, MemoryClaim, MemoryExpiry, MemoryFact,
    MemoryInsight, MemoryOrigin,
};

/// The maximum length of a quoted sentence, in characters; for a longer one, only the model's own
/// quote is stored.
const MAX_QUOTE_CHARS: usize = 2_000;

/// Builds the candidates of an accepted reply.
///
/// The same claim with the same quote always gets the same id, however often it is made; the same
/// claim from another event gets a different id. A fact quotes the whole sentence that contains the
/// model's quote and is valid from the time of the event.
#[must_use]
pub fn build_candidates(
    scope: &MemoryScope,
    shown: &PromptEvents,
    reply: &MemoryCandidates,
    now: Timestamp,
) -> Vec<ClaimCandidate> {
    let facts = reply.facts.iter().filter_map(|proposed| build_fact(shown, proposed));
    let facts = facts.map(|fact| MemoryClaim::Fact(Box::new(fact)));
    let insights = reply.insights.iter().map(|proposed| build_insight(scope, shown, proposed));
    let insights = insights.map(|insight| MemoryClaim::Insight(Box::new(insight)));
    let mut candidates: Vec<ClaimCandidate> = Vec::new();
    for claim in facts.chain(insights) {
        let id = derive_id("c", &describe_claim_identity(&claim));
        if candidates.iter().all(|other| other.id != id) {
            let (origin, state) = (MemoryOrigin::Model, CandidateState::Proposed);
            candidates.push(ClaimCandidate {
                id,
                revision: 1,
                origin,
                claim,
                state,
                recorded_at: now,
            });
        }
    }
    candidates
}

/// Returns `None` if the event was not shown to the model, which the contract does not accept.
fn build_fact(shown: &PromptEvents, proposed: &ProposedFact) -> Option<MemoryFact> {
    let event = shown.find_event(&proposed.event)?;
    let sentence = find_sentence(&event.text, &proposed.quote)?;
    let whole = Some(sentence).filter(|sentence| sentence.chars().count() <= MAX_QUOTE_CHARS);
    let quote = whole.unwrap_or(&proposed.quote).to_owned();
    let (key, value) = (proposed.key.trim().to_owned(), proposed.value.trim().to_owned());
    Some(MemoryFact {
        id: derive_id("f", &json!([key, value, event.id, quote])),
        revision: 1,
        value: value.into(),
        key,
        status: FactStatus::Active,
        level: ScopeLevel::User,
        valid_from: Some(event.ts),
        valid_to: None,
        recorded_at: event.recorded_at,
        confidence: proposed.confidence,
        evidence: vec![FactEvidence { event: event.id.clone(), quote: Some(quote) }],
        preference: proposed.preference,
        tags: Vec::new(),
        entities: Vec::new(),
        notes: String::new(),
        superseded_by: None,
    })
}

fn build_insight(
    scope: &MemoryScope,
    shown: &PromptEvents,
    proposed: &ProposedInsight,
) -> MemoryInsight {
    let statement = proposed.statement.trim().to_owned();
    let because = proposed.because.iter().filter_map(|id| shown.find_event(id));
    MemoryInsight {
        id: derive_id("i", &json!([scope.run(), statement])),
        revision: 1,
        run: scope.run().to_owned(),
        kind: proposed.kind,
        statement,
        trigger: InsightTrigger::Synthesis,
        confidence: proposed.confidence,
        // The model's own confidence is not a validation.
        validation: InsightValidationState::Unvalidated,
        tests: proposed.tests_suggested.clone(),
        expires: MemoryExpiry::RunEnd,
        recorded_at: because.map(|event| event.recorded_at).max().unwrap_or_default(),
        sources: proposed.because.clone(),
    }
}

/// Returns the parts of a claim that identify it.
fn describe_claim_identity(claim: &MemoryClaim) -> Value {
    match claim {
        MemoryClaim::Fact(fact) => {
            let evidence: Vec<_> =
                fact.evidence.iter().map(|piece| json!([piece.event, piece.quote])).collect();
            json!(["fact", fact.key, fact.value, evidence])
        }
        MemoryClaim::Insight(insight) => json!(["insight", insight.run, insight.statement]),
        MemoryClaim::Episode(episode) => json!(["episode", episode.id]),
        MemoryClaim::Procedure(procedure) => json!(["procedure", procedure.id]),
    }
}

fn derive_id(prefix: &str, said: &Value) -> String {
    const SHOWN: usize = 20;
    let digest = digest_json(said);
    let hex = digest.strip_prefix("sha256:").unwrap_or(&digest);
    format!("{prefix}-{}", &hex[..SHOWN.min(hex.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{EventLocation, MemoryEvent};
    use crate::store::NewMemoryEvent;

    fn event(id: &str, text: &str, ts: i64) -> MemoryEvent {
        let scope = MemoryScope::new("t", "u", "a", "s", "r").unwrap();
        let place = EventLocation { session: 1, position: 1 };
        NewMemoryEvent::from_user_message(scope, id, text, Timestamp(ts)).into_event(place)
    }

    #[test]
    fn what_is_said_again_later_is_another_fact() {
        let texts = [("e1", "I live in Paris."), ("e2", "I moved back to Paris.")];
        let events = texts.iter().zip(1..).map(|((id, text), ts)| event(id, text, ts));
        let shown = PromptEvents::from_events(events.collect());
        let proposed = |event: &str, quote: &str| {
            let proposed = ProposedFact {
                key: "city".to_owned(),
                value: "Paris".to_owned(),
                event: event.to_owned(),
                quote: quote.to_owned(),
                confidence: 0.8,
                preference: false,
            };
            build_fact(&shown, &proposed).unwrap().id
        };
        let first = proposed("e1", "in Paris");
        // The sentence is the same, so the fact is the same.
        assert_eq!(proposed("e1", "Paris"), first);
        assert_ne!(proposed("e2", "Paris"), first);
    }
}
