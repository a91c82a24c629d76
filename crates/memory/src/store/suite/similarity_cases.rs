//! Cases: vectors in addition to words.

use std::sync::Arc;

use super::sample::{NOW, append_user_event, build_request, build_scope, build_user_event, scope};
use crate::policy::{MemoryPolicy, SimilarityPolicy};
use crate::record::MemoryExpiry;
use crate::store::{EraseTarget, Memory, MemoryError, PacketBuild, RetrievalLimits, SweepOptions};
use crate::tokens::CharCounter;
use crate::{EmbeddingVector, MemoryScope, PacketRequest};

fn vector(numbers: &[f32]) -> EmbeddingVector {
    EmbeddingVector::from_floats("small", numbers).unwrap()
}

/// Writes three events with their vectors.
async fn three(memory: &dyn Memory, scope: &MemoryScope) {
    let told = [
        ("e1", "The lorry is late.", [1.0, 0.1]),
        ("e2", "Breakfast is at eight.", [0.0, 1.0]),
        ("e3", "Our truck broke down.", [0.9, 0.0]),
    ];
    for (id, text, numbers) in told {
        append_user_event(memory, scope, id, text).await;
        let vectors = vec![(id.to_owned(), vector(&numbers))];
        assert_eq!(memory.store_vectors(&scope.subject(), vectors).await.unwrap(), 1);
    }
}

fn near(scope: &MemoryScope, words: &str) -> PacketRequest {
    PacketRequest { vector: Some(vector(&[1.0, 0.0])), ..build_request(scope, words) }
}

fn limits(weight: i64, newest: usize) -> RetrievalLimits {
    RetrievalLimits {
        similarity: SimilarityPolicy { weight, newest },
        ..RetrievalLimits::default()
    }
}

async fn ids(memory: &dyn Memory, request: &PacketRequest, limits: RetrievalLimits) -> Vec<String> {
    let found = memory.retrieve_candidates(request, limits).await.unwrap();
    found.quotes.into_iter().map(|quote| quote.row.id).collect()
}

pub async fn what_is_near_in_meaning_is_found_without_its_words(memory: Arc<dyn Memory>) {
    let scope = scope();
    three(&*memory, &scope).await;
    let request = near(&scope, "haulage");
    assert!(ids(&*memory, &request, limits(0, 10)).await.is_empty(), "off where nobody asks");
    assert!(
        ids(&*memory, &build_request(&scope, "haulage"), limits(1_000_000, 10)).await.is_empty()
    );
    assert_eq!(ids(&*memory, &request, limits(1_000_000, 10)).await, ["e3", "e1"]);
    let hits = memory.search_events(&request, 1).await.unwrap();
    assert_eq!(hits[0].row.id, "e3");
    assert_eq!(hits[0].score.parts["similar"], hits[0].score.total);
}

pub async fn what_is_near_and_says_the_same_crowds_nothing_out(memory: Arc<dyn Memory>) {
    let scope = scope();
    three(&*memory, &scope).await;
    for number in 0..8 {
        let id = format!("a{number}");
        append_user_event(&*memory, &scope, &id, "The lorry, again!").await;
        let vectors = vec![(id, vector(&[1.0, 0.0]))];
        memory.store_vectors(&scope.subject(), vectors).await.unwrap();
    }
    let limits = RetrievalLimits { quotes: 3, ..limits(1_000_000, 100) };
    let found = ids(&*memory, &near(&scope, "haulage"), limits).await;
    assert_eq!(found, ["a7", "a6", "a5", "e3", "e1"]);
}

pub async fn words_and_meaning_are_weighed(memory: Arc<dyn Memory>) {
    let scope = scope();
    three(&*memory, &scope).await;
    let request = near(&scope, "breakfast");
    assert_eq!(ids(&*memory, &request, limits(100_000, 10)).await[0], "e2");
    assert_eq!(ids(&*memory, &request, limits(2_000_000, 10)).await[0], "e3");
    let other = EmbeddingVector::from_floats("large", &[1.0, 0.0]).unwrap();
    let other = PacketRequest { vector: Some(other), ..build_request(&scope, "breakfast") };
    assert_eq!(ids(&*memory, &other, limits(2_000_000, 10)).await[0], "e2", "another embedder's");
}

pub async fn no_more_vectors_are_read_than_allowed(memory: Arc<dyn Memory>) {
    let scope = scope();
    three(&*memory, &scope).await;
    let found =
        memory.retrieve_candidates(&near(&scope, "haulage"), limits(1_000_000, 2)).await.unwrap();
    let names: Vec<&str> = found.quotes.iter().map(|quote| quote.row.id.as_str()).collect();
    assert_eq!(names, ["e3"], "of the newest two one is nearer");
    let cut =
        found.truncations.iter().find(|cut| cut.description == "events with a vector").unwrap();
    assert_eq!((cut.read, cut.total), (2, Some(3)));
}

pub async fn events_without_a_vector_are_known(memory: Arc<dyn Memory>) {
    let (scope, subject) = (scope(), scope().subject());
    three(&*memory, &scope).await;
    append_user_event(&*memory, &scope, "e4", "A new one.").await;
    append_user_event(&*memory, &build_scope("other", "s", "r"), "e5", "Somebody else's.").await;
    let missing = async |embedder: &str, among, limit| {
        let missing =
            memory.list_unembedded_events(&subject, embedder, among, limit).await.unwrap();
        let names: Vec<String> = missing.events.into_iter().map(|event| event.id).collect();
        (names.join(" "), missing.all)
    };
    assert_eq!(missing("small", 10, 10).await, ("e4".to_owned(), 1));
    assert_eq!(missing("large", usize::MAX, 2).await, ("e4 e3".to_owned(), 4));
    assert_eq!(missing("large", 3, 10).await, ("e4 e3 e2".to_owned(), 3));
}

pub async fn vectors_of_another_length_are_refused(memory: Arc<dyn Memory>) {
    let (scope, subject) = (scope(), scope().subject());
    three(&*memory, &scope).await;
    let put = |id: &str, numbers: &[f32]| vec![(id.to_owned(), vector(numbers))];
    let refused = memory.store_vectors(&subject, put("e1", &[1.0, 0.0, 0.0])).await.unwrap_err();
    assert!(matches!(&refused, MemoryError::Dimensions { expected: 2, found: 3, .. }), "{refused}");
    let mixed = [put("e1", &[1.0]), put("e2", &[1.0, 2.0])].concat();
    assert!(memory.store_vectors(&subject, mixed).await.is_err());
    assert_eq!(memory.store_vectors(&subject, put("gone", &[0.0, 1.0])).await.unwrap(), 0);
    let other = build_scope("other", "s", "r").subject();
    assert_eq!(memory.store_vectors(&other, put("e1", &[0.0, 1.0])).await.unwrap(), 0);
}

pub async fn vectors_go_with_their_events(memory: Arc<dyn Memory>) {
    let (scope, subject) = (scope(), scope().subject());
    three(&*memory, &scope).await;
    let mut passing = build_user_event(&scope, "e4", "A lift is broken.");
    passing.expires = Some(MemoryExpiry::RunEnd);
    memory.append_events(vec![passing]).await.unwrap();
    let vectors = vec![("e4".to_owned(), vector(&[1.0, 0.0]))];
    assert_eq!(memory.store_vectors(&subject, vectors).await.unwrap(), 1);
    memory
        .sweep_expired(&scope, SweepOptions { run_ended: true, include_used: false }, NOW)
        .await
        .unwrap();
    let found =
        memory.retrieve_candidates(&near(&scope, "haulage"), limits(1_000_000, 1)).await.unwrap();
    assert_eq!(found.truncations[0].total, Some(3), "that of the swept event went with it");
    let told = memory.preview_forget(EraseTarget::Subject(subject.clone())).await.unwrap();
    assert_eq!(told.rows["vectors"], 3);
    memory.forget(EraseTarget::Subject(subject), NOW).await.unwrap();
    assert!(ids(&*memory, &near(&scope, "lorry"), limits(1_000_000, 10)).await.is_empty());
    assert!(memory.find_scope_violations().await.unwrap().is_empty());
}

pub async fn a_build_needs_no_vector_again(memory: Arc<dyn Memory>) {
    let (scope, subject) = (scope(), scope().subject());
    three(&*memory, &scope).await;
    let mut policy = MemoryPolicy::load_shipped("default").unwrap();
    policy.similarity.weight = 1_000_000;
    let request = near(&scope, "haulage");
    let found =
        memory.retrieve_candidates(&request, RetrievalLimits::from_policy(&policy)).await.unwrap();
    let packet = crate::compose::compose_packet(&request, &policy, &found, &CharCounter).unwrap();
    assert_eq!(packet.short_term.key_quotes.as_ref().unwrap().len(), 2);
    let build = PacketBuild::from_packet("b", &request, &policy, &found, &packet, "chars/4");
    memory.store_build(build.clone()).await.unwrap();
    // A different vector, as another version of the model would produce it.
    let other = vec![("e3".to_owned(), vector(&[-1.0, 0.0]))];
    memory.store_vectors(&subject, other).await.unwrap();
    let (kept, then) = memory.load_build(&subject, "b").await.unwrap().unwrap();
    assert_eq!(kept.request, request, "its vector too");
    assert_eq!(kept.recompose(&then).unwrap(), packet);
}
