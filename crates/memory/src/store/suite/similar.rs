//! Cases: vectors beside words.

use std::sync::Arc;

use super::sample::{NOW, ask, said, scope, tell, within};
use crate::policy::{Policy, Similarity};
use crate::record::Expiry;
use crate::store::{Build, Limits, Memory, MemoryError, Sweep, Whom};
use crate::tokens::CharCounter;
use crate::{Request, Scope, Vector};

fn vector(numbers: &[f32]) -> Vector {
    Vector::of("small", numbers).unwrap()
}

/// Three things that were said, and where they lie.
async fn three(memory: &dyn Memory, scope: &Scope) {
    let told = [
        ("e1", "The lorry is late.", [1.0, 0.1]),
        ("e2", "Breakfast is at eight.", [0.0, 1.0]),
        ("e3", "Our truck broke down.", [0.9, 0.0]),
    ];
    for (id, text, numbers) in told {
        tell(memory, scope, id, text).await;
        let vectors = vec![(id.to_owned(), vector(&numbers))];
        assert_eq!(memory.keep_vectors(&scope.subject(), vectors).await.unwrap(), 1);
    }
}

fn near(scope: &Scope, words: &str) -> Request {
    Request { vector: Some(vector(&[1.0, 0.0])), ..ask(scope, words) }
}

fn limits(weight: i64, newest: usize) -> Limits {
    Limits { similarity: Similarity { weight, newest }, ..Limits::default() }
}

async fn ids(memory: &dyn Memory, request: &Request, limits: Limits) -> Vec<String> {
    let found = memory.found(request, limits).await.unwrap();
    found.quotes.into_iter().map(|quote| quote.row.id).collect()
}

pub async fn what_is_near_in_meaning_is_found_without_its_words(memory: Arc<dyn Memory>) {
    let scope = scope();
    three(&*memory, &scope).await;
    let request = near(&scope, "haulage");
    assert!(ids(&*memory, &request, limits(0, 10)).await.is_empty(), "off where nobody asks");
    assert!(ids(&*memory, &ask(&scope, "haulage"), limits(1_000_000, 10)).await.is_empty());
    assert_eq!(ids(&*memory, &request, limits(1_000_000, 10)).await, ["e3", "e1"]);
    let hits = memory.search(&request, 1).await.unwrap();
    assert_eq!(hits[0].row.id, "e3");
    assert_eq!(hits[0].score.parts["similar"], hits[0].score.total);
}

pub async fn what_is_near_and_says_the_same_crowds_nothing_out(memory: Arc<dyn Memory>) {
    let scope = scope();
    three(&*memory, &scope).await;
    for number in 0..8 {
        let id = format!("a{number}");
        tell(&*memory, &scope, &id, "The lorry, again!").await;
        let vectors = vec![(id, vector(&[1.0, 0.0]))];
        memory.keep_vectors(&scope.subject(), vectors).await.unwrap();
    }
    let limits = Limits { quotes: 3, ..limits(1_000_000, 100) };
    let found = ids(&*memory, &near(&scope, "haulage"), limits).await;
    assert_eq!(found, ["a7", "a6", "a5", "e3", "e1"]);
}

pub async fn words_and_meaning_are_weighed(memory: Arc<dyn Memory>) {
    let scope = scope();
    three(&*memory, &scope).await;
    let request = near(&scope, "breakfast");
    assert_eq!(ids(&*memory, &request, limits(100_000, 10)).await[0], "e2");
    assert_eq!(ids(&*memory, &request, limits(2_000_000, 10)).await[0], "e3");
    let other = Vector::of("large", &[1.0, 0.0]).unwrap();
    let other = Request { vector: Some(other), ..ask(&scope, "breakfast") };
    assert_eq!(ids(&*memory, &other, limits(2_000_000, 10)).await[0], "e2", "another embedder's");
}

pub async fn no_more_vectors_are_read_than_allowed(memory: Arc<dyn Memory>) {
    let scope = scope();
    three(&*memory, &scope).await;
    let found = memory.found(&near(&scope, "haulage"), limits(1_000_000, 2)).await.unwrap();
    let names: Vec<&str> = found.quotes.iter().map(|quote| quote.row.id.as_str()).collect();
    assert_eq!(names, ["e3"], "of the newest two one is nearer");
    let cut = found.cut.iter().find(|cut| cut.what == "events with a vector").unwrap();
    assert_eq!((cut.read, cut.of), (2, Some(3)));
}

pub async fn events_without_a_vector_are_known(memory: Arc<dyn Memory>) {
    let (scope, subject) = (scope(), scope().subject());
    three(&*memory, &scope).await;
    tell(&*memory, &scope, "e4", "A new one.").await;
    tell(&*memory, &within("other", "s", "r"), "e5", "Somebody else's.").await;
    let missing = async |embedder: &str, among, limit| {
        let missing = memory.unembedded(&subject, embedder, among, limit).await.unwrap();
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
    let refused = memory.keep_vectors(&subject, put("e1", &[1.0, 0.0, 0.0])).await.unwrap_err();
    assert!(matches!(&refused, MemoryError::Dimensions { expected: 2, found: 3, .. }), "{refused}");
    let mixed = [put("e1", &[1.0]), put("e2", &[1.0, 2.0])].concat();
    assert!(memory.keep_vectors(&subject, mixed).await.is_err());
    assert_eq!(memory.keep_vectors(&subject, put("gone", &[0.0, 1.0])).await.unwrap(), 0);
    let other = within("other", "s", "r").subject();
    assert_eq!(memory.keep_vectors(&other, put("e1", &[0.0, 1.0])).await.unwrap(), 0);
}

pub async fn vectors_go_with_their_events(memory: Arc<dyn Memory>) {
    let (scope, subject) = (scope(), scope().subject());
    three(&*memory, &scope).await;
    let mut passing = said(&scope, "e4", "A lift is broken.");
    passing.expires = Some(Expiry::RunEnd);
    memory.remember(vec![passing]).await.unwrap();
    let vectors = vec![("e4".to_owned(), vector(&[1.0, 0.0]))];
    assert_eq!(memory.keep_vectors(&subject, vectors).await.unwrap(), 1);
    memory.sweep(&scope, Sweep { run_ended: true, used: false }, NOW).await.unwrap();
    let found = memory.found(&near(&scope, "haulage"), limits(1_000_000, 1)).await.unwrap();
    assert_eq!(found.cut[0].of, Some(3), "that of the swept event went with it");
    let told = memory.would_forget(Whom::Subject(subject.clone())).await.unwrap();
    assert_eq!(told.rows["vectors"], 3);
    memory.forget(Whom::Subject(subject), NOW).await.unwrap();
    assert!(ids(&*memory, &near(&scope, "lorry"), limits(1_000_000, 10)).await.is_empty());
    assert!(memory.misplaced().await.unwrap().is_empty());
}

pub async fn a_build_needs_no_vector_again(memory: Arc<dyn Memory>) {
    let (scope, subject) = (scope(), scope().subject());
    three(&*memory, &scope).await;
    let mut policy = Policy::shipped("default").unwrap();
    policy.similarity.weight = 1_000_000;
    let request = near(&scope, "haulage");
    let found = memory.found(&request, Limits::of(&policy)).await.unwrap();
    let packet = crate::compose::compose(&request, &policy, &found, &CharCounter).unwrap();
    assert_eq!(packet.short_term.key_quotes.as_ref().unwrap().len(), 2);
    let build = Build::of("b", &request, &policy, &found, &packet, "chars/4");
    memory.keep_build(build.clone()).await.unwrap();
    // Another vector, as another version of the same model would make it.
    let other = vec![("e3".to_owned(), vector(&[-1.0, 0.0]))];
    memory.keep_vectors(&subject, other).await.unwrap();
    let (kept, then) = memory.build(&subject, "b").await.unwrap().unwrap();
    assert_eq!(kept.request, request, "its vector too");
    assert_eq!(kept.again(&then).unwrap(), packet);
}
