//! Cases: claims that wait for a decision.

use std::sync::Arc;

use super::sample::{
    NOW, append_user_event, build_scope, candidate, fact, retrieve_candidates, scope, with_evidence,
};
use crate::record::{CandidateState, MemoryClaim, MemoryOrigin};
use crate::rules::{ClaimAssurance, MemoryRefusal};
use crate::store::Memory;

fn city(value: &str, event: &str, quote: &str) -> MemoryClaim {
    MemoryClaim::Fact(Box::new(with_evidence(fact("f1", "city", value), event, Some(quote))))
}

pub async fn a_candidate_is_promoted_by_the_rules(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "I live in Paris.").await;
    let waiting = candidate("c1", city("Paris", "e1", "in Paris"), MemoryOrigin::Model);
    memory.propose_candidate(&scope, waiting.clone()).await.unwrap();
    memory.propose_candidate(&scope, waiting.clone()).await.unwrap();
    assert!(
        retrieve_candidates(&*memory, &scope, "").await.facts.is_empty(),
        "nothing is known yet"
    );
    let other = candidate("c1", city("Rome", "e1", "in Paris"), MemoryOrigin::Model);
    let refused = memory.propose_candidate(&scope, other).await.unwrap_err();
    assert_eq!(refused.to_string(), "candidate `c1` already exists with different content");
    let kept = memory
        .promote_candidate(&scope, "c1", ClaimAssurance::Claimed, NOW)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(kept.id, "f1");
    assert_eq!(retrieve_candidates(&*memory, &scope, "").await.facts.len(), 1);
    let all = memory.list_candidates(&scope.subject(), 10).await.unwrap();
    assert_eq!((all.len(), all[0].revision), (1, 2));
    assert_eq!(all[0].state, CandidateState::Promoted { id: "f1".to_owned() });
}

pub async fn a_candidate_is_refused_and_says_why(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "I live in Paris.").await;
    let invented = candidate("c1", city("Rome", "e1", "I live in Rome"), MemoryOrigin::Model);
    memory.propose_candidate(&scope, invented).await.unwrap();
    let ruled = memory.promote_candidate(&scope, "c1", ClaimAssurance::Claimed, NOW).await.unwrap();
    assert_eq!(ruled, Err(MemoryRefusal::QuoteNotInEvent { event: "e1".to_owned() }));
    memory
        .propose_candidate(&scope, candidate("c2", city("Oslo", "e1", "I"), MemoryOrigin::User))
        .await
        .unwrap();
    memory.refuse_candidate(&scope, "c2", "nobody lives there", NOW).await.unwrap();
    let mut all = memory.list_candidates(&scope.subject(), 10).await.unwrap();
    all.sort_by(|one, other| one.id.cmp(&other.id));
    let reason = |reason: &str| CandidateState::Refused { reason: reason.to_owned() };
    assert_eq!(all[0].state, reason("its quote does not occur exactly in event `e1`"));
    assert_eq!(all[1].state, reason("nobody lives there"));
    assert!(retrieve_candidates(&*memory, &scope, "").await.facts.is_empty());
}

pub async fn a_candidate_is_ruled_on_once(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "I live in Paris.").await;
    memory
        .propose_candidate(&scope, candidate("c1", city("Paris", "e1", "I"), MemoryOrigin::User))
        .await
        .unwrap();
    memory.refuse_candidate(&scope, "c1", "no", NOW).await.unwrap();
    let again =
        memory.promote_candidate(&scope, "c1", ClaimAssurance::Confirmed, NOW).await.unwrap_err();
    assert_eq!(again.to_string(), "candidate `c1` was already decided: it was refused");
    let elsewhere = build_scope("u2", "s1", "r1");
    let missing = memory.refuse_candidate(&elsewhere, "c1", "no", NOW).await.unwrap_err();
    assert_eq!(missing.to_string(), "no candidate `c1` in this scope");
}
