//! Cases: events are kept once, in their places.

use std::sync::Arc;

use super::sample::{NOW, ids, said, scope, tell, within};
use crate::Scope;
use crate::record::{Expiry, Place};
use crate::rules::Refusal;
use crate::store::{Memory, MemoryError};

pub async fn the_same_event_twice_is_one(memory: Arc<dyn Memory>) {
    let event = said(&scope(), "e1", "The price is twelve.");
    let first = memory.remember(vec![event.clone()]).await.unwrap();
    let mut later = event.clone();
    later.recorded_at = event.recorded_at.after(5);
    let again = memory.remember(vec![later.clone(), event]).await.unwrap();
    assert_eq!(again, [first[0].clone(), first[0].clone()]);
    assert_eq!(memory.export(&scope().subject()).await.unwrap().len(), 1);
    assert_eq!(ids(&*memory, &scope(), "price").await, ["e1"]);
}

pub async fn another_event_under_the_same_id_is_refused(memory: Arc<dyn Memory>) {
    tell(&*memory, &scope(), "e1", "one").await;
    let mut other_session = said(&scope(), "e1", "one");
    other_session.scope = within("u", "s2", "r1");
    for other in [said(&scope(), "e1", "two"), other_session] {
        let refused = memory.remember(vec![other]).await.unwrap_err();
        assert_eq!(refused.to_string(), "event `e1` is there already and says something else");
    }
    tell(&*memory, &within("u2", "s1", "r1"), "e1", "two").await;
}

pub async fn events_get_places_in_their_session(memory: Arc<dyn Memory>) {
    let (first, second) = (scope(), within("u", "s2", "r2"));
    let events = [(&first, "a"), (&second, "b"), (&first, "c"), (&second, "d")];
    let events = events.map(|(scope, id)| said(scope, id, id)).to_vec();
    let kept = memory.remember(events).await.unwrap();
    tell(&*memory, &first, "e", "e").await;
    let last = memory.remember(vec![said(&within("u", "s3", "r"), "f", "f")]).await.unwrap();
    let at = |session, position| Place { session, position };
    let places: Vec<Place> = kept.iter().chain(&last).map(|event| event.place).collect();
    assert_eq!(places, [at(1, 1), at(2, 1), at(1, 2), at(2, 2), at(3, 1)]);
    let again = memory.remember(vec![said(&first, "e", "e")]).await.unwrap();
    assert_eq!(again[0].place, at(1, 3));
    // Another subject counts for itself.
    let theirs = memory.remember(vec![said(&within("u2", "s9", "r"), "a", "a")]).await.unwrap();
    assert_eq!(theirs[0].place, at(1, 1));
}

pub async fn a_batch_is_kept_whole_or_not_at_all(memory: Arc<dyn Memory>) {
    tell(&*memory, &scope(), "e1", "one").await;
    let batch = vec![said(&scope(), "e2", "two"), said(&scope(), "e1", "another")];
    memory.remember(batch).await.unwrap_err();
    let twice = vec![said(&scope(), "e3", "three"), said(&scope(), "e3", "four")];
    memory.remember(twice).await.unwrap_err();
    assert_eq!(memory.export(&scope().subject()).await.unwrap().len(), 1);
    assert!(ids(&*memory, &scope(), "two three four").await.is_empty());
}

pub async fn what_has_no_name_is_refused(memory: Arc<dyn Memory>) {
    for id in ["", "a\nb", &"x".repeat(257)] {
        let refused = memory.remember(vec![said(&scope(), id, "text")]).await.unwrap_err();
        assert!(matches!(refused, MemoryError::Refused(Refusal::Malformed { .. })), "{refused}");
    }
    let long = "x".repeat((1 << 20) + 1);
    let refused = memory.remember(vec![said(&scope(), "e1", &long)]).await.unwrap_err();
    assert_eq!(refused.to_string(), "`text` must be at most 1048576 bytes");
}

pub async fn the_last_event_of_a_run_is_known(memory: Arc<dyn Memory>) {
    let (parent, child) = (within("u", "s1", "r1"), within("u", "s1", "r1.1"));
    assert_eq!(memory.last_of_run(&parent).await.unwrap(), None);
    let own = vec![said(&parent, "a", "a"), said(&parent, "b", "b")];
    memory.remember(own).await.unwrap();
    let memory = &*memory;
    assert_eq!(last(memory, &child).await, None);
    // However many a child adds to the session.
    let many = (0..100).map(|number| said(&child, &format!("c{number}"), "c")).collect();
    memory.remember(many).await.unwrap();
    assert_eq!(last(memory, &parent).await.as_deref(), Some("b"));
    assert_eq!(last(memory, &child).await.as_deref(), Some("c99"));
    assert_eq!(last(memory, &within("u2", "s1", "r1")).await, None);
}

pub async fn a_session_is_read_in_its_order(memory: Arc<dyn Memory>) {
    let scope = scope();
    assert!(memory.session(&scope, 0, 10, NOW).await.unwrap().is_empty());
    let mut passing = said(&scope, "c", "c");
    passing.expires = Some(Expiry::At(NOW));
    let mut of_run = said(&within("u", "s1", "r2"), "d", "d");
    of_run.expires = Some(Expiry::RunEnd);
    let all = vec![said(&scope, "a", "a"), said(&scope, "b", "b"), passing, of_run];
    memory.remember(all).await.unwrap();
    tell(&*memory, &within("u", "s2", "r1"), "x", "x").await;
    tell(&*memory, &within("u2", "s1", "r1"), "y", "y").await;
    let ids = async |after, limit, now| {
        let events = memory.session(&scope, after, limit, now).await.unwrap();
        events.into_iter().map(|event| event.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(0, 10, NOW).await, ["a", "b", "c"]);
    assert_eq!(ids(0, 10, NOW.after(1)).await, ["a", "b"]);
    assert_eq!(ids(1, 10, NOW).await, ["b", "c"]);
    assert_eq!(ids(0, 3, NOW).await, ["b", "c"], "the latest of them");
    assert!(ids(4, 10, NOW).await.is_empty());
}

async fn last(memory: &dyn Memory, scope: &Scope) -> Option<String> {
    memory.last_of_run(scope).await.unwrap().map(|event| event.id)
}
